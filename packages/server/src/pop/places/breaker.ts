/**
 * The circuit breaker of one receiver: after several failures in a row it is left alone for a moment, then one
 * call probes whether it is back.
 *
 *   closed ──(5 failures in a row)──▶ open ──(wait over, next call)──▶ half-open
 *     ▲                                ▲                                 │ probe fails: twice the wait
 *     │                                └─────────────────────────────────┤
 *     └──────────────── any answer, from whichever call ─────────────────┘
 *
 * An answer of any status is a sign of life. A request that never left the member says nothing either way.
 * The wait stays short: while the circuit is open a receiver that is back already must not be kept waiting.
 */
import { type CallbackResult, invariant } from '@carillon/core';

export type Admission = 'pass' | 'probe' | 'refuse';
export type Sign = 'life' | 'failure' | 'nothing';

export const failureCountMax = 5;
export const openMsMin = 500;
export const openMsMax = 5000;

export function signOf(result: CallbackResult): Sign {
  if (result.kind === 'answer') return 'life';
  if (result.kind === 'unmade') return 'nothing';
  return result.reason === 'forbidden' ? 'nothing' : 'failure';
}

export class Breaker {
  private state: 'closed' | 'open' | 'half-open' = 'closed';
  private failures = 0;
  private untilMs = 0;
  private openMs = openMsMin;

  /** The present state; `half-open` while a probe is under way. */
  get phase(): 'closed' | 'open' | 'half-open' {
    return this.state;
  }

  /** Whether the newest sign of the receiver is a failure. */
  get failing(): boolean {
    return this.failures > 0;
  }

  /** Whether a call made now would be refused. */
  refuses(nowMs: number): boolean {
    return this.state === 'half-open' || (this.state === 'open' && nowMs < this.untilMs);
  }

  /** How long calls are refused from now on, as far as can be said; 0 when they are not. */
  waitMs(nowMs: number): number {
    if (!this.refuses(nowMs)) return 0;
    return this.state === 'open' ? this.untilMs - nowMs : this.openMs;
  }

  /** Asked before every call. After `probe` the same word must come back through `settle`. */
  admit(nowMs: number): Admission {
    if (this.refuses(nowMs)) return 'refuse';
    if (this.state === 'closed') return 'pass';
    this.state = 'half-open';
    return 'probe';
  }

  /** Told of the end of every call that was let through. */
  settle(admission: Admission, sign: Sign, nowMs: number): void {
    if (sign === 'life') this.close();
    else if (admission === 'probe') this.probed(sign, nowMs);
    else if (sign === 'failure' && this.state === 'closed' && ++this.failures >= failureCountMax) {
      this.open(nowMs);
    }
  }

  private probed(sign: Sign, nowMs: number): void {
    // Closed already: a call from before the circuit opened has been answered meanwhile.
    if (this.state !== 'half-open') return;
    if (sign === 'failure') {
      this.openMs = Math.min(openMsMax, this.openMs * 2);
      this.open(nowMs);
    } else {
      // The probe never left the member: the next call may be one.
      this.state = 'open';
    }
  }

  private open(nowMs: number): void {
    invariant(this.openMs <= openMsMax, 'an open circuit has an end');
    this.state = 'open';
    this.untilMs = nowMs + this.openMs;
  }

  private close(): void {
    this.state = 'closed';
    this.failures = 0;
    this.openMs = openMsMin;
  }
}
