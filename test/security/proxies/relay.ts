/** Stands between a proxy and a member, passes on all bytes, and keeps the bytes that the member was sent. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { type ReadRequest, requestsIn } from '../differential/ours.ts';
import { listening } from '../../e2e/support/listening.ts';

export interface Seen {
  readonly requests: readonly ReadRequest[];
  /** Bytes that the member did not take for the head of a request, with its reason. */
  readonly refused: readonly string[];
  readonly connections: number;
}

export class Relay {
  private readonly server: Server;
  private readonly sent: Buffer[][] = [];
  private readonly open = new Set<Socket>();

  private constructor(to: number) {
    this.server = createServer({ noDelay: true }, (proxy) => this.relay(proxy, to));
  }

  static async start(to: number): Promise<Relay> {
    const relay = new Relay(to);
    await listening(relay.server);
    return relay;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** Requests as a member reads them in the bytes of each connection. */
  seen(): Seen {
    const read = this.sent.map((bytes) => requestsIn([Buffer.concat(bytes)]));
    return {
      requests: read.flatMap(({ requests }) => requests),
      refused: read.flatMap(({ requests, end, why }) =>
        end === 'refused' && requests.at(-1)?.complete !== false ? [why] : [],
      ),
      connections: this.sent.length,
    };
  }

  stop(): void {
    this.server.close();
    for (const socket of this.open) socket.destroy();
  }

  private relay(proxy: Socket, to: number): void {
    const member = connect({ port: to, host: '127.0.0.1', noDelay: true });
    const bytes: Buffer[] = [];
    this.sent.push(bytes);
    proxy.on('data', (piece: Buffer) => bytes.push(piece));
    this.pass(proxy, member);
    this.pass(member, proxy);
  }

  private pass(from: Socket, to: Socket): void {
    this.open.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => {
      this.open.delete(from);
      to.destroySoon();
    });
  }
}
