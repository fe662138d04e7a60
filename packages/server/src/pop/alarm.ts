/**
 * The one alarm of a member: set to the next record in the wheel, it takes from there the records whose time has come.
 *
 * Example: of three records due at 10.000, 10.000 and 12.500 s the alarm is set to 10.000 s. It rings, two handles are
 * given to `due`, and it is set to 12.500 s. If the process then stands still and the alarm rings at 13.200 s, 700 ms
 * late, the member has slept (`awake.ts`), and pops ask the other replicas before they go on.
 */
import type { Cancel, Clock } from '@carillon/core';
import type { Store } from '../store/store.ts';
import type { Awake } from './awake.ts';

export interface AlarmParts {
  readonly clock: Clock;
  readonly store: Pick<Store, 'arm' | 'takeDue' | 'nextAlarmMs'>;
  readonly awake: Awake;
  /** Pops in memory now, and at most: other records that are due stay in the wheel. */
  readonly activeCount: () => number;
  readonly activeCountMax: number;
  /** The time of the record has come. */
  readonly due: (handle: number) => void;
}

/** Records taken from the wheel in one turn of the event loop. */
const takeMax = 1000;
/** Once memory was full, the share of it that pops may still take when the wheel is looked at again. */
const roomRatio = 0.9;

export class Alarm {
  private readonly parts: AlarmParts;
  private readonly due: number[] = [];
  private set: { readonly atMs: number; readonly ringsMs: number; readonly cancel: Cancel } | null =
    null;
  /** Whether the alarm is not started yet, or was stopped. */
  private stopped = true;
  /** Whether memory had no room for records that are due. */
  private crowded = false;

  constructor(parts: AlarmParts) {
    this.parts = parts;
  }

  /** Records that fell due before now, while this member was away or read its disk, may have been popped by others. */
  start(): void {
    this.stopped = false;
    this.parts.awake.wakeUp(this.parts.clock.now());
    this.poll();
  }

  /** Takes no more records from the wheel. */
  stop(): void {
    this.stopped = true;
    this.set?.cancel();
    this.set = null;
  }

  /** Takes the records that are due. Cheap when there are none. */
  poll(): void {
    if (this.stopped) return;
    const { store, clock, activeCount, activeCountMax } = this.parts;
    const nowMs = clock.now();
    this.noteSleep(nowMs);
    const room = activeCountMax - activeCount();
    this.crowded = room <= 0;
    // The end of a pop makes room and polls again.
    if (this.crowded) return;
    this.due.length = 0;
    store.takeDue(nowMs, Math.min(room, takeMax), this.due);
    for (const handle of this.due) this.parts.due(handle);
    const nextMs = store.nextAlarmMs();
    // The records may have taken a while. With more of them due, other work is done in between.
    const untilMs = this.due.length === 0 ? nowMs : clock.now();
    if (nextMs !== null && nextMs <= untilMs) clock.soon(() => this.poll());
    else this.adjust();
  }

  /** Follows the wheel, in which another record may have come to be the next. */
  adjust(): void {
    if (this.stopped) return;
    const { store, clock } = this.parts;
    const atMs = store.nextAlarmMs();
    if (this.set !== null && this.set.atMs === atMs) return;
    this.set?.cancel();
    if (atMs === null) this.set = null;
    else {
      const ringsMs = Math.max(atMs, clock.now());
      this.set = { atMs, ringsMs, cancel: clock.at(atMs, () => this.rang()) };
    }
  }

  /** Puts a record back into the wheel for a while. */
  again(handle: number, afterMs: number): void {
    this.parts.store.arm(handle, this.parts.clock.now() + afterMs);
    this.adjust();
  }

  /** A pop has ended: there may be room for records that wait in the wheel. */
  madeRoom(): void {
    const { clock, activeCount, activeCountMax } = this.parts;
    if (!this.crowded || activeCount() > activeCountMax * roomRatio) return;
    this.crowded = false;
    clock.soon(() => this.poll());
  }

  /** An alarm that rings late tells that this member stood still; a record that came in overdue does not. */
  private noteSleep(nowMs: number): void {
    if (this.set !== null) this.parts.awake.rang(this.set.ringsMs, nowMs);
  }

  private rang(): void {
    const { clock, awake } = this.parts;
    const nowMs = clock.now();
    this.noteSleep(nowMs);
    this.set = null;
    // Messages that have arrived are read first: a cancel may be among them, and the member may have stood still until
    // just now. After a sleep the others are asked instead.
    if (awake.sinceMs < nowMs) clock.soon(() => this.poll());
    else this.poll();
  }
}
