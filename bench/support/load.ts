/**
 * HTTP requests as fast as the other side takes them: prepared bytes on kept connections, answers only counted.
 * A client library would measure itself.
 */
import { connect, type Socket } from 'node:net';

export interface Load {
  readonly url: URL;
  readonly requestCount: number;
  /** Connections, each with one request under way. */
  readonly inFlight: number;
  readonly request: (index: number) => Buffer;
}

export interface LoadResult {
  readonly seconds: number;
  /** Answers that were not a 200. */
  readonly refused: number;
}

export function post(path: string, body: string): Buffer {
  const length = Buffer.byteLength(body);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nhost: bench\r\ncontent-length: ${length}\r\n\r\n${body}`,
  );
}

export async function runLoad(load: Load): Promise<LoadResult> {
  let next = 0;
  let refused = 0;
  const startMs = performance.now();
  const worker = async (): Promise<void> => {
    const connection = new Connection(load.url);
    while (next < load.requestCount) {
      const status = await connection.exchange(load.request(next++));
      if (status !== 200) refused++;
    }
    connection.end();
  };
  await Promise.all(Array.from({ length: load.inFlight }, worker));
  return { seconds: (performance.now() - startMs) / 1000, refused };
}

class Connection {
  private readonly socket: Socket;
  private received = '';
  private done: (status: number) => void = () => {};
  private failed: (error: Error) => void = () => {};

  constructor(url: URL) {
    this.socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => this.took(text));
    this.socket.on('error', (error) => this.failed(error));
    this.socket.on('close', () => this.failed(new Error('The connection was closed.')));
  }

  exchange(request: Buffer): Promise<number> {
    return new Promise((resolve, reject) => {
      this.done = resolve;
      this.failed = reject;
      this.socket.write(request);
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
    if (this.received.length < headerEnd + 4 + length) return;
    const status = Number(this.received.slice(9, 12));
    this.received = this.received.slice(headerEnd + 4 + length);
    this.done(status);
  }
}
