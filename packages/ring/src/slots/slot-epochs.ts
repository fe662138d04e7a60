/**
 * The numbers in tokens. A token is the slot's epoch × 2²⁴ + a counter: the epoch is the revision in etcd at which the
 * slot's record was last written, and the counter is the number of the grant under that epoch. No number is used twice,
 * so a counter that runs low needs a new epoch before it runs out.
 *
 * Example: a slot of epoch 120 has granted 2²³ locks. Grants go on, and its record is written again in the background,
 * on condition that it is still the one of revision 120. etcd takes it as revision 500, so the next grant has the token
 * 500 × 2²⁴ + 1. While etcd is away the other half of the counter is left, some 8 million grants; when it is used up,
 * locks wait and the write is tried again every 200 ms.
 */
import { type Clock, invariant, type Log } from '@carillon/core';
import { countersPerEpoch, type Slot } from './slot.ts';
import { type SlotWriter, troublePauseMs } from './slot-writer.ts';

export interface SlotEpochsOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Grants under one epoch; tests use up small ones. */
  readonly countersMax?: number | undefined;
}

export class SlotEpochs {
  private readonly options: SlotEpochsOptions;
  private readonly countersMax: number;
  private readonly writer: SlotWriter;
  /** Told when the record was written again, or was not, and numbers are left. */
  private readonly onRefreshed: (slot: Slot) => void;
  /** Slots whose next epoch is being fetched. */
  private readonly refreshing = new Set<Slot>();
  private closed = false;

  constructor(options: SlotEpochsOptions, writer: SlotWriter, onRefreshed: (slot: Slot) => void) {
    this.options = options;
    this.countersMax = options.countersMax ?? countersPerEpoch;
    this.writer = writer;
    this.onRefreshed = onRefreshed;
  }

  /** Whether a number is left for one more token under the slot's epoch. */
  hasNumber(slot: Slot): boolean {
    return slot.counter < this.countersMax - 1;
  }

  /** The next number under the slot's epoch. Half way through, a new epoch is fetched. */
  next(slot: Slot): number {
    slot.counter++;
    invariant(slot.counter < this.countersMax, 'a token is granted once under an epoch');
    if (slot.counter >= this.countersMax / 2) this.refresh(slot);
    return slot.counter;
  }

  close(): void {
    this.closed = true;
  }

  /** Writes the record anew for a higher epoch, under which tokens count from 0 again; `Slots.learn` sets both. */
  private refresh(slot: Slot): void {
    const { member } = slot;
    if (this.closed || slot.state !== 'owned' || member === null) return;
    if (this.refreshing.has(slot)) return;
    this.refreshing.add(slot);
    this.writer
      .refresh(slot, member)
      .finally(() => this.onRefreshOver(slot))
      .catch((error: unknown) =>
        this.options.log.error('A slot of a ring was not refreshed.', {
          event: 'ring-slot-unrefreshed',
          reason: String(error),
        }),
      );
  }

  private onRefreshOver(slot: Slot): void {
    this.refreshing.delete(slot);
    if (this.closed) return;
    if (this.hasNumber(slot)) return this.onRefreshed(slot);
    // No number is left, so no grant will ask for a refresh: ask again from here.
    const { clock } = this.options;
    clock.at(clock.now() + troublePauseMs, () => this.refresh(slot));
  }
}
