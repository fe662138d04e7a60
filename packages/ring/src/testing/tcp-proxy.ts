/** A TCP proxy in front of one etcd endpoint that can stall, cut after n bytes, lose etcd's answers, or refuse. */
import { createServer, connect, type Server, type Socket } from 'node:net';

export class TcpProxy {
  /** Bytes from the server that each new connection lets through before it is cut; Infinity: all. */
  answerBytesMax = Number.POSITIVE_INFINITY;
  /** True: answers of the server vanish, the connection stays. */
  losesAnswers = false;
  /** True: nothing passes in either direction, the connection stays. */
  private stalledNow = false;
  private refuses = false;
  private readonly server: Server;
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private readonly target: URL;

  private constructor(target: string) {
    this.target = new URL(target);
    this.server = createServer((socket) => this.accept(socket));
  }

  static async start(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    await new Promise<void>((resolve) => proxy.server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as { port: number }).port}`;
  }

  get stalled(): boolean {
    return this.stalledNow;
  }

  set stalled(stalled: boolean) {
    this.stalledNow = stalled;
    for (const pair of this.pairs) {
      for (const socket of pair) {
        if (stalled) socket.pause();
        else socket.resume();
      }
    }
  }

  /** Ends every connection; with `refuse`, new ones end at once too. */
  cut(refuse = false): void {
    this.refuses = refuse;
    for (const [near, far] of this.pairs) {
      near.destroy();
      far.destroy();
    }
  }

  async close(): Promise<void> {
    this.cut(true);
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(near: Socket): void {
    if (this.refuses) {
      near.destroy();
      return;
    }
    const far = connect(Number(this.target.port), this.target.hostname);
    const pair = [near, far] as const;
    this.pairs.add(pair);
    let left = this.answerBytesMax;
    near.on('data', (chunk) => far.write(chunk));
    far.on('data', (chunk) => {
      if (this.losesAnswers) return;
      const part = chunk.subarray(0, left);
      left -= part.length;
      near.write(part);
      if (left <= 0) near.destroy();
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.setNoDelay(true);
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        other.destroy();
        this.pairs.delete(pair);
      });
      if (this.stalledNow) socket.pause();
    }
  }
}
