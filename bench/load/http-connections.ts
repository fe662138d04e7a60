/**
 * Kept HTTP/1.1 connections with one request under way on each, written by hand: as little client as possible, so that
 * the server is measured and not an HTTP library. A connection that breaks is replaced by one to the next server.
 */
import { connect, type Socket } from 'node:net';

const limitMs = 10_000;

export interface HttpAnswer {
  readonly status: number;
  readonly body: string;
}

export class HttpConnections {
  /** Requests that were made again because a server went away. */
  repeated = 0;
  private readonly urls: readonly URL[];
  private readonly dead = new Set<URL>();
  private readonly idle: Connection[] = [];
  private next = 0;

  constructor(urls: readonly string[]) {
    this.urls = urls.map((url) => new URL(url));
  }

  async exchange(method: string, path: string, body: string): Promise<HttpAnswer> {
    const length = Buffer.byteLength(body);
    const head = `${method} ${path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    for (let attempt = 0; ; attempt++) {
      const connection = this.idle.pop() ?? new Connection(this.nextUrl());
      try {
        const answer = await connection.exchange(head + body);
        this.idle.push(connection);
        return answer;
      } catch (error) {
        if (attempt >= this.urls.length) throw error;
        this.dead.add(connection.url);
        this.repeated++;
      }
    }
  }

  close(): void {
    for (const connection of this.idle) connection.end();
  }

  private nextUrl(): URL {
    const alive = this.urls.filter((url) => !this.dead.has(url));
    const urls = alive.length === 0 ? this.urls : alive;
    return urls[this.next++ % urls.length] as URL;
  }
}

class Connection {
  readonly url: URL;
  private readonly socket: Socket;
  private received = '';
  private done: (answer: HttpAnswer) => void = () => {};
  private failed: (error: Error) => void = () => {};

  constructor(url: URL) {
    this.url = url;
    this.socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.setTimeout(limitMs, () => this.socket.destroy(new Error('No answer in time.')));
    this.socket.on('data', (text: string) => this.took(text));
    this.socket.on('error', (error) => this.failed(error));
    this.socket.on('close', () => this.failed(new Error('The connection was closed.')));
  }

  exchange(request: string): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      this.done = resolve;
      this.failed = reject;
      if (this.socket.destroyed) reject(new Error('The connection was closed.'));
      else this.socket.write(request, 'latin1');
    });
  }

  end(): void {
    this.failed = () => {};
    this.socket.end();
  }

  private took(text: string): void {
    this.received += text;
    const headerEnd = this.received.indexOf('\r\n\r\n');
    if (headerEnd === -1) return;
    const length = Number(/content-length: (\d+)/i.exec(this.received)?.[1] ?? 0);
    const end = headerEnd + 4 + length;
    if (this.received.length < end) return;
    const answer = {
      status: Number(this.received.slice(9, 12)),
      body: this.received.slice(headerEnd + 4, end),
    };
    this.received = this.received.slice(end);
    this.done(answer);
  }
}
