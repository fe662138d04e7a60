/** A receiver on loopback for tests: raw sockets, so that it can misbehave in every way; counts connections. */
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';

/** Gets the head and body received so far; returns the bytes to write, or null to wait for more. */
export type Behaviour = (received: string, socket: Socket) => string | null;

export const ok = 'HTTP/1.1 204 No Content\r\n\r\n';

export class TestReceiver {
  connectionCount = 0;
  /** Heads and bodies, one a request. */
  readonly requests: string[] = [];
  behave: Behaviour;
  /** Written to each connection, before a request has come. */
  greeting = '';
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();

  private constructor(behave: Behaviour) {
    this.behave = behave;
    this.server = createServer((socket) => this.serve(socket));
  }

  /** Port 0: any free one. */
  static async start(
    behave: Behaviour = () => ok,
    host = '127.0.0.1',
    port = 0,
  ): Promise<TestReceiver> {
    const receiver = new TestReceiver(behave);
    await new Promise<void>((resolve) => receiver.server.listen(port, host, resolve));
    return receiver;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get openCount(): number {
    return this.sockets.size;
  }

  uri(path = '/', host = '127.0.0.1'): string {
    return `http://${host}:${this.port}${path}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    this.connectionCount++;
    this.sockets.add(socket);
    if (this.greeting !== '') socket.write(this.greeting);
    let received = '';
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (!isWhole(received)) return;
      const request = received;
      received = '';
      this.requests.push(request);
      const answer = this.behave(request, socket);
      if (answer !== null) socket.write(answer, 'latin1');
    });
  }
}

function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
  return received.length >= end + 4 + length;
}
