/**
 * Which receivers take several pops in a request, as they say in their answers: remembered for each uri and namespace, the ones
 * heard of last.
 *
 *  1. The newest answer counts: one that does not say so ends it.
 *  2. Several instances may stand behind a uri, old ones among them. Where one of them did not understand a request with several
 *     pops, they come one by one for a while, whatever the others say.
 */
import type { CallbackResult, Clock } from '@carillon/core';

export interface Receiver {
  readonly uri: string;
  readonly namespace: string;
}

const receiverCountMax = 4096;
const singlyMs = 60_000;

interface Known {
  readonly countMax: number;
  readonly singlyUntilMs: number;
}

export class TogetherReceivers {
  private readonly clock: Pick<Clock, 'now'>;
  private readonly known = new Map<string, Known>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  /** Pops that the receiver takes in a request; 1: they are to come one by one. */
  countMax(receiver: Receiver): number {
    if (this.known.size === 0) return 1;
    const known = this.known.get(keyOf(receiver));
    return known === undefined || this.clock.now() < known.singlyUntilMs ? 1 : known.countMax;
  }

  heard(receiver: Receiver, result: CallbackResult): void {
    if (result.kind !== 'answer') return;
    const { together } = result;
    if (together === undefined && this.known.size === 0) return;
    const key = keyOf(receiver);
    const known = this.known.get(key);
    const countMax = together?.countMax ?? 1;
    if ((known?.countMax ?? 1) === countMax) return;
    const singlyUntilMs = known?.singlyUntilMs ?? 0;
    if (countMax === 1 && singlyUntilMs <= this.clock.now()) this.known.delete(key);
    else this.remember(key, { countMax, singlyUntilMs });
  }

  /** A request with several pops was not understood. */
  notUnderstood(receiver: Receiver): void {
    this.remember(keyOf(receiver), { countMax: 1, singlyUntilMs: this.clock.now() + singlyMs });
  }

  private remember(key: string, known: Known): void {
    this.known.delete(key);
    this.known.set(key, known);
    if (this.known.size <= receiverCountMax) return;
    const [oldest] = this.known.keys();
    if (oldest !== undefined) this.known.delete(oldest);
  }
}

/** No namespace has a space in its name. */
function keyOf({ uri, namespace }: Receiver): string {
  return `${namespace} ${uri}`;
}
