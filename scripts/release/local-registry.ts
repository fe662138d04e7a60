/**
 * An npm registry on loopback for the rehearsal: takes archives of `npm publish`, gives them to `npm install`, and
 * sends every request for other packages on to the registry that npm is configured with. A stand-in for Verdaccio,
 * which brings more packages than all of this repository's tools together.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

interface Published {
  readonly name: string;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

export class LocalRegistry {
  readonly url: string;
  private readonly server: Server;
  private readonly documents = new Map<string, object>();
  /** By file name. */
  private readonly archives = new Map<string, Buffer>();

  private constructor(server: Server, upstream: string) {
    this.server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.method === 'PUT') void this.take(request, response);
      else this.give(request.url ?? '/', response, upstream);
    });
  }

  /** `upstream`: the address of the registry that has all other packages. */
  static async start(upstream: string): Promise<LocalRegistry> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LocalRegistry(server, upstream);
  }

  /** Names of the packages that were published here. */
  get names(): string[] {
    return [...this.documents.keys()];
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { _attachments, ...document } = (await json(request)) as Published;
    for (const [name, { data }] of Object.entries(_attachments)) {
      this.archives.set(name.split('/').at(-1) as string, Buffer.from(data, 'base64'));
    }
    this.documents.set(document.name, document);
    response.writeHead(201, { 'content-type': 'application/json' }).end('{}');
  }

  private give(path: string, response: ServerResponse, upstream: string): void {
    const name = decodeURIComponent(path.slice(1));
    const document = this.documents.get(name);
    const archive = this.archives.get(name.split('/').at(-1) as string);
    if (document !== undefined) {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(document));
    } else if (archive !== undefined) {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(archive);
    } else {
      response.writeHead(307, { location: new URL(path.slice(1), upstream).href }).end();
    }
  }
}
