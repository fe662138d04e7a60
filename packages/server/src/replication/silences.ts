/**
 * Silences of peers that are over, for figures of the last minutes: their timers were popped by backups, and late,
 * although all members answer now.
 */

/** A busy peer is silent for less than this, and its pops are late by less. */
const silenceMsMin = 1000;
/** Silences that ended longer ago are forgotten. */
const keptMs = 600_000;

export class Silences {
  /** The end of the last silence, by the name of the peer; the newest stands last. */
  private readonly endedMs = new Map<string, number>();

  /** The peer answers again, or has left the view. */
  ended(name: string, sinceMs: number, nowMs: number): void {
    for (const [other, ms] of this.endedMs) {
      if (nowMs - ms <= keptMs) break;
      this.endedMs.delete(other);
    }
    if (nowMs - sinceMs < silenceMsMin) return;
    this.endedMs.delete(name);
    this.endedMs.set(name, nowMs);
  }

  /** Peers whose last silence ended at this moment or later. */
  namesSince(ms: number): string[] {
    return [...this.endedMs].filter(([, endedMs]) => endedMs >= ms).map(([name]) => name);
  }
}
