/**
 * Which receivers take several pops in a request, as they say in their answers: remembered for each uri and namespace,
 * the ones heard of last. When there are too many, the namespace that has most of them forgets one.
 *
 *  1. The newest answer counts: one that does not say so ends it.
 *  2. Several instances may stand behind a uri, old ones among them. Where one of them did not understand a request
 *     with several pops, they come one by one for a while, also where others take several.
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
  /** By namespace and uri; the ones heard of last stand last. */
  private readonly known = new Map<string, Map<string, Known>>();
  private count = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.clock = clock;
  }

  /** Pops that the receiver takes in a request; 1: they are to come one by one. */
  countMax(receiver: Receiver): number {
    if (this.count === 0) return 1;
    const known = this.of(receiver);
    return known === undefined || this.clock.now() < known.singlyUntilMs ? 1 : known.countMax;
  }

  heard(receiver: Receiver, result: CallbackResult): void {
    if (result.kind !== 'answer') return;
    const { together } = result;
    if (together === undefined && this.count === 0) return;
    const known = this.of(receiver);
    const countMax = together?.countMax ?? 1;
    if ((known?.countMax ?? 1) === countMax) return;
    const singlyUntilMs = known?.singlyUntilMs ?? 0;
    if (countMax === 1 && singlyUntilMs <= this.clock.now()) this.forget(receiver);
    else this.remember(receiver, { countMax, singlyUntilMs });
  }

  /** A request with several pops was not understood. */
  notUnderstood(receiver: Receiver): void {
    this.remember(receiver, { countMax: 1, singlyUntilMs: this.clock.now() + singlyMs });
  }

  private of({ namespace, uri }: Receiver): Known | undefined {
    return this.known.get(namespace)?.get(uri);
  }

  private remember(receiver: Receiver, known: Known): void {
    const { namespace, uri } = receiver;
    this.forget(receiver);
    const own = this.known.get(namespace) ?? new Map<string, Known>();
    if (own.size === 0) this.known.set(namespace, own);
    own.set(uri, known);
    this.count++;
    if (this.count > receiverCountMax) this.forgetOne();
  }

  private forget({ namespace, uri }: Receiver): void {
    const own = this.known.get(namespace);
    if (own?.delete(uri) !== true) return;
    this.count--;
    if (own.size === 0) this.known.delete(namespace);
  }

  /** The one that was heard of first, of the namespace that has most. */
  private forgetOne(): void {
    let most = { namespace: '', size: 0 };
    for (const [namespace, { size }] of this.known) {
      if (size > most.size) most = { namespace, size };
    }
    const [uri] = this.known.get(most.namespace)?.keys() ?? [];
    if (uri !== undefined) this.forget({ namespace: most.namespace, uri });
  }
}
