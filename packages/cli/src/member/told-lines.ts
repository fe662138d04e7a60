/** Lines that several members say about the same thing: the first one is told, and the others not, for a minute. */

const quietMs = 60_000;
/** Of more, the ones told longest ago may be told again sooner. */
const keyCountMax = 1000;

export class ToldLines {
  private readonly untilMs = new Map<string, number>();

  /** Whether a line about this is news. */
  isNews(key: string, nowMs: number): boolean {
    if (nowMs < (this.untilMs.get(key) ?? Number.NEGATIVE_INFINITY)) return false;
    this.untilMs.delete(key);
    this.untilMs.set(key, nowMs + quietMs);
    if (this.untilMs.size > keyCountMax) {
      const [oldest] = this.untilMs.keys();
      if (oldest !== undefined) this.untilMs.delete(oldest);
    }
    return true;
  }
}
