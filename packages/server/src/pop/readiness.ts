/**
 * Whether a record whose alarm rang may pop now, or when to look at it again.
 *
 * Example: the alarm of a record rings at 10.000 s. Another replica has a claim until 12.000 s: again at 12.010 s. The
 * cluster is still finding out whether the timer was cancelled: again at 10.100 s. The client asked for a wall-clock
 * time that is 250 ms away, because the clock was set back: again at 10.250 s. The receiver is left alone for 5 s:
 * again after 5 s and a part of the time that the pop has waited. None of these: it pops.
 */
import type { Clock, Definition, TimerRecord } from '@carillon/core';
import { unmade } from '../callback/callback-failure.ts';
import { aheadMsMax, type Instant, missedPops } from '../timer/schedule.ts';
import { afterRefusal } from './outcome/after-attempt.ts';
import type { Awake } from './awake.ts';
import type { Batches, PopAddressee } from './sending/batches.ts';
import type { Granting } from './granting.ts';
import type { Pop } from './pop.ts';
import type { PopRules } from './pop-rules.ts';

export interface ReadinessParts {
  readonly clock: Clock;
  readonly awake: Awake;
  readonly granting: Pick<Granting, 'heldUntilMs'>;
  readonly batches: Pick<Batches, 'waitMs'>;
  readonly rules: PopRules;
  readonly instant: () => Instant;
  /**
   * The pop may have been made by others, or its timer may have ended long ago: wait until that is known. `slept`: it
   * fell due while this member did not run. `stale`: or so soon after that others may not have told their news yet.
   */
  readonly holds: (handle: number, slept: boolean, stale: boolean) => boolean;
}

/** A pop that the cluster holds is looked at again after this time. */
const holdMs = 100;

export class Readiness {
  private readonly parts: ReadinessParts;

  constructor(parts: ReadinessParts) {
    this.parts = parts;
  }

  /**
   * When to look again at a pop that the other members may be making, or have made; null: nothing of the kind is known.
   */
  heldUntilMs(handle: number, record: TimerRecord): number | null {
    const { clock, awake, granting, holds } = this.parts;
    const grantedMs = granting.heldUntilMs(handle, record);
    if (grantedMs !== null) return grantedMs;
    const slept = awake.sleptOver(record);
    // No pop is kept waiting for longer than half of its gap: the promised time counts more than news that may still
    // come.
    const sinceMs = slept ? awake.sinceMs : record.retryMs;
    const untilMs = sinceMs + record.gapMs / 2;
    const nowMs = clock.now();
    const isHeld = nowMs < untilMs && holds(handle, slept, slept || awake.mayBeStale(record));
    return isHeld ? Math.min(nowMs + holdMs, untilMs) : null;
  }

  /**
   * When to look again at a pop that had better wait for its wall-clock time, or for its receiver; null: it waits no
   * longer, or for so short a time that the other replicas are asked meanwhile.
   */
  waitsUntilMs(record: TimerRecord, definition: Definition, to: PopAddressee): number | null {
    const earlyMs = this.earlyMs(record, definition);
    const waitMs = earlyMs > aheadMsMax ? earlyMs : this.restMs(record, definition, to);
    return waitMs > 0 ? this.parts.clock.now() + waitMs : null;
  }

  /**
   * When the request of a pop may leave, which may have been looked at ahead of its time; by its wall-clock time once
   * it is due by the monotonic clock.
   */
  startMs({ record, definition }: Pick<Pop, 'record' | 'definition'>): number {
    const nowMs = this.parts.clock.now();
    return record.retryMs > nowMs ? record.retryMs : nowMs + this.earlyMs(record, definition);
  }

  /** How far away a wall-clock instant still is: the clock may have been set back since the timer was armed. */
  private earlyMs(record: TimerRecord, { timing, origin }: Definition): number {
    if (timing.kind !== 'at' || record.attempt > 0 || origin !== null) return 0;
    return timing.atMs - this.parts.instant().wallMs;
  }

  /** How long a pop rests because its receiver is left alone, or has too many waiting; 0: it need not. */
  private restMs(record: TimerRecord, definition: Definition, to: PopAddressee): number {
    const { batches, rules, instant } = this.parts;
    const waitMs = batches.waitMs(to);
    if (waitMs === 0) return 0;
    const at = instant();
    const pop = { record, startMs: at.nowMs };
    const circumstances = rules.circumstances(pop, missedPops(record, definition, at), at);
    const after = afterRefusal(record, definition, unmade('', waitMs), circumstances);
    // A pop that is to be given up goes its way: the others are asked first.
    return after.kind === 'wait' ? after.waitMs : 0;
  }
}
