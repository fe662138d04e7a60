/**
 * Room for requests that have arrived in part and are kept until they are complete.
 *
 * B1  All together never keep more than the limit.
 * B2  Requests of unauthenticated senders keep at most half of it, and of one address a quarter: the rest is for
 *     authenticated senders.
 * B3  One address keeps at most three quarters of it; more only where it keeps nothing else.
 */
import { networkOf } from '../../access/remote.ts';

/** Whose bytes they are. */
export interface Sender {
  /** Address of the client; empty where it is not known. */
  readonly remote: string;
  /** The sender is authenticated, or no authentication is required. */
  readonly admitted: boolean;
}

const strangersShare = 1 / 2;
const strangersOfOneShare = 1 / 4;
const addressShare = 3 / 4;

interface Kept {
  bytes: number;
  strangerBytes: number;
}

export class BodyRoom {
  private readonly bytesMax: number;
  private readonly all: Kept = { bytes: 0, strangerBytes: 0 };
  private readonly byNetwork = new Map<string, Kept>();

  constructor(bytesMax: number) {
    this.bytesMax = bytesMax;
  }

  /** Whether so many more bytes of a sender may be kept. */
  fits(bytes: number, { remote, admitted }: Sender): boolean {
    const { all, bytesMax } = this;
    if (all.bytes + bytes > bytesMax) return false;
    const own = this.byNetwork.get(networkOf(remote));
    if (own === undefined)
      return admitted || all.strangerBytes + bytes <= bytesMax * strangersShare;
    if (own.bytes + bytes > bytesMax * addressShare) return false;
    if (admitted) return true;
    if (all.strangerBytes + bytes > bytesMax * strangersShare) return false;
    return own.strangerBytes + bytes <= bytesMax * strangersOfOneShare;
  }

  /** Counts these bytes as kept from now on; negative: as no longer kept. */
  keep(bytes: number, { remote, admitted }: Sender): void {
    if (bytes === 0) return;
    const network = networkOf(remote);
    const own = this.byNetwork.get(network) ?? { bytes: 0, strangerBytes: 0 };
    for (const kept of [this.all, own]) {
      kept.bytes += bytes;
      if (!admitted) kept.strangerBytes += bytes;
    }
    if (own.bytes === 0) this.byNetwork.delete(network);
    else this.byNetwork.set(network, own);
  }
}
