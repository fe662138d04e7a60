/**
 * Kept HTTP/1.1 connections, written by hand: as little client as possible, so that the server is measured and not an
 * HTTP library. Calls share a few connections and do not wait for each other's answers (pipelining), as the libraries
 * of the queues do; or each has a connection of its own. One that breaks is replaced by one to the next server.
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
  private readonly open: Connection[] = [];
  private readonly perServer: number;
  private next = 0;

  /** At most `perServer` connections to each server. */
  constructor(urls: readonly string[], perServer: number) {
    this.urls = urls.map((url) => new URL(url));
    this.perServer = perServer;
  }

  async exchange(method: string, path: string, body: string): Promise<HttpAnswer> {
    const length = Buffer.byteLength(body);
    const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
    for (let attempt = 0; ; attempt++) {
      const connection = this.pick();
      try {
        return await connection.exchange(head + body);
      } catch (error) {
        if (attempt >= this.urls.length) throw error;
        this.drop(connection);
        this.repeated++;
      }
    }
  }

  close(): void {
    for (const connection of this.open) connection.end();
  }

  /** An unused connection, or a new one, or else the one with the fewest calls under way. */
  private pick(): Connection {
    // Connections that were unused for long were closed by the server meanwhile.
    for (let at = this.open.length - 1; at >= 0; at--)
      if (this.open[at]?.closed === true) this.open.splice(at, 1);
    const free = this.open.find(({ underWay }) => underWay === 0);
    if (free !== undefined) return free;
    if (this.open.length < this.perServer * (this.urls.length - this.dead.size)) {
      const connection = new Connection(this.nextUrl());
      this.open.push(connection);
      return connection;
    }
    return this.open.reduce((least, one) => (one.underWay < least.underWay ? one : least));
  }

  private drop(connection: Connection): void {
    if (this.dead.size + 1 < this.urls.length) this.dead.add(connection.url);
    const at = this.open.indexOf(connection);
    if (at >= 0) this.open.splice(at, 1);
  }

  private nextUrl(): URL {
    const alive = this.urls.filter((url) => !this.dead.has(url));
    const urls = alive.length === 0 ? this.urls : alive;
    return urls[this.next++ % urls.length] as URL;
  }
}

interface PendingCall {
  readonly done: (answer: HttpAnswer) => void;
  readonly failed: (error: Error) => void;
}

class Connection {
  readonly url: URL;
  private readonly socket: Socket;
  private received = '';
  /** In the order of their answers. */
  private readonly calls: PendingCall[] = [];
  private corked = false;

  constructor(url: URL) {
    this.url = url;
    this.socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.socket.setEncoding('latin1');
    this.socket.setTimeout(limitMs, () => this.socket.destroy(new Error('No answer in time.')));
    this.socket.on('data', (text: string) => this.took(text));
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => this.fail(new Error('The connection was closed.')));
  }

  get closed(): boolean {
    return this.socket.destroyed && this.calls.length === 0;
  }

  get underWay(): number {
    return this.calls.length;
  }

  exchange(request: string): Promise<HttpAnswer> {
    return new Promise((done, failed) => {
      if (this.socket.destroyed) {
        failed(new Error('The connection was closed.'));
        return;
      }
      this.calls.push({ done, failed });
      this.cork();
      this.socket.write(request, 'latin1');
    });
  }

  end(): void {
    this.socket.end();
  }

  /** Requests of one turn of the event loop leave together. */
  private cork(): void {
    if (this.corked) return;
    this.corked = true;
    this.socket.cork();
    setImmediate(() => {
      this.corked = false;
      this.socket.uncork();
    });
  }

  private fail(error: Error): void {
    for (const { failed } of this.calls.splice(0)) failed(error);
  }

  private took(text: string): void {
    this.received += text;
    let from = 0;
    for (;;) {
      const headerEnd = this.received.indexOf('\r\n\r\n', from);
      if (headerEnd === -1) break;
      const head = this.received.slice(from, headerEnd);
      const bodyAt = headerEnd + 4;
      const end = bodyAt + Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (this.received.length < end) break;
      const body = this.received.slice(bodyAt, end);
      this.calls.shift()?.done({ status: Number(head.slice(9, 12)), body });
      from = end;
    }
    this.received = this.received.slice(from);
  }
}
