/**
 * Notices when the machine is too busy to run anybody: a process that does nothing but look at the clock comes late.
 * Members that get no processor time for that long come late; that explains no callback that comes twice, but for
 * timers whose 2n leaves no time to wait for such a member.
 */
const lookMs = 25;
const lateMs = 150;

export class MachineWatch {
  longestMs = 0;
  private readonly interval: NodeJS.Timeout;
  private lastMs = performance.now();
  private lastStallMs = 0;
  private end: (() => void) | null = null;

  /** `begin` is called when a stall has begun; the function it returns, when the stall is surely over. */
  constructor(begin: () => () => void) {
    this.interval = setInterval(() => this.look(begin), lookMs);
    this.interval.unref();
  }

  stop(): void {
    clearInterval(this.interval);
    this.end?.();
  }

  private look(begin: () => () => void): void {
    const nowMs = performance.now();
    const stalledMs = nowMs - this.lastMs - lookMs;
    this.lastMs = nowMs;
    this.longestMs = Math.max(this.longestMs, stalledMs);
    if (stalledMs > lateMs) {
      this.end ??= begin();
      this.lastStallMs = nowMs;
    } else if (this.end !== null && nowMs - this.lastStallMs > 1000) {
      this.end();
      this.end = null;
    }
  }
}
