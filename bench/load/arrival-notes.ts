/** Notes of a receiver: for each pop how late it came, and whether it came twice. */
import type { Arrivals, Expected } from './arrivals.ts';
import { Seconds } from './seconds.ts';

const curvePoints = 200;

export class ArrivalNotes {
  private latenesses: number[] = [];
  /** Due time of the newest pop of each timer; NaN: none yet. */
  private lastDues = new Float64Array(0);
  private duplicates = 0;
  private unknown = 0;
  private lastMs = 0;
  private seconds = new Seconds(0);

  get count(): number {
    return this.latenesses.length;
  }

  expect({ timerCount }: Expected): void {
    this.latenesses = [];
    this.lastDues = new Float64Array(timerCount).fill(Number.NaN);
    this.duplicates = 0;
    this.unknown = 0;
    this.lastMs = 0;
    this.seconds = new Seconds(Date.now());
  }

  add(index: number, dueMs: number, nowMs: number): void {
    const lastDue = this.lastDues[index];
    if (lastDue === undefined || Number.isNaN(dueMs)) this.unknown++;
    else if (lastDue === dueMs) this.duplicates++;
    else {
      this.lastDues[index] = dueMs;
      this.lastMs = nowMs;
      this.latenesses.push(nowMs - dueMs);
      this.seconds.add(nowMs, nowMs - dueMs);
    }
  }

  summary(): Arrivals {
    const sorted = Float64Array.from(this.latenesses).toSorted();
    const at = (share: number): number | null =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
    return {
      arrived: sorted.length,
      timers: this.lastDues.reduce((sum, due) => sum + (Number.isNaN(due) ? 0 : 1), 0),
      duplicates: this.duplicates,
      unknown: this.unknown,
      lastMs: this.lastMs,
      latenessMs: { min: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) },
      seconds: this.seconds.summary(),
      curve: Array.from({ length: curvePoints + 1 }, (_, i) => at(i / curvePoints) ?? 0),
    };
  }
}
