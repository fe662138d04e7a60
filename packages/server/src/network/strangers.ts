/**
 * Connections that are not authenticated yet. There may be few of them at a time, and when one more comes the one
 * that has waited longest is cut: a member finishes its handshake in a moment, so a crowd of silent connections keeps
 * no member out.
 */
import type { Socket } from 'node:net';

export class Strangers {
  private readonly countMax: number;
  private readonly onCut: (peer: string) => void;
  /** In the order they came. */
  private readonly waiting = new Map<string, Socket>();

  constructor(countMax: number, onCut: (peer: string) => void) {
    this.countMax = countMax;
    this.onCut = onCut;
  }

  /** `socket` is the bare one, also under TLS. */
  enter(socket: Socket): void {
    const peer = peerOf(socket);
    socket.once('close', () => this.leave(peer));
    this.waiting.set(peer, socket);
    if (this.waiting.size <= this.countMax) return;
    const [first] = this.waiting;
    if (first === undefined) return;
    const [oldest, waiting] = first;
    this.waiting.delete(oldest);
    waiting.destroy();
    this.onCut(oldest);
  }

  close(): void {
    for (const socket of this.waiting.values()) socket.destroy();
  }

  /** The peer is authenticated, or gone. */
  leave(peer: string): void {
    this.waiting.delete(peer);
  }
}

/** Address of a peer: the same for a TLS socket and the bare one below it. */
export function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
