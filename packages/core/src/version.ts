/**
 * Versions: a hybrid logical clock. Each client request gets one from its coordinator; of two records of
 * one timer the higher version wins. Wall milliseconds first, so that versions follow real time; a
 * counter and the member's number break ties, so that no two requests share one.
 */

export interface Version {
  readonly versionMs: number;
  /** counter × 1024 + member number. */
  readonly versionTie: number;
}

const counterMax = 2 ** 22 - 1;
const tieMax = 2 ** 32 - 1;

export function compareVersions(a: Version, b: Version): number {
  return a.versionMs - b.versionMs || a.versionTie - b.versionTie;
}

/** The lowest version above another: every member computes the same one. */
export function versionAfter({ versionMs, versionTie }: Version): Version {
  if (versionTie === tieMax) return { versionMs: versionMs + 1, versionTie: 0 };
  return { versionMs, versionTie: versionTie + 1 };
}

/** A version as clients see it: `1794765600000.1`. */
export function formatVersion({ versionMs, versionTie }: Version): string {
  return `${versionMs}.${versionTie}`;
}

/** null for any text that is not a version, written as `formatVersion` writes it. */
export function parseVersion(text: string): Version | null {
  const match = /^(0|[1-9]\d{0,15})\.(0|[1-9]\d{0,9})$/.exec(text);
  if (match === null) return null;
  const versionMs = Number(match[1]);
  const versionTie = Number(match[2]);
  return versionMs <= Number.MAX_SAFE_INTEGER && versionTie < 2 ** 32
    ? { versionMs, versionTie }
    : null;
}

export class VersionClock {
  private lastMs = 0;
  private counter = 0;

  /** A version above every one stamped or observed so far. */
  stamp(wallMs: number, member: number): Version {
    if (wallMs > this.lastMs) {
      this.lastMs = wallMs;
      this.counter = 0;
    } else if (++this.counter > counterMax) {
      this.lastMs++;
      this.counter = 0;
    }
    return { versionMs: this.lastMs, versionTie: this.counter * 1024 + (member & 1023) };
  }

  /** Whether every later stamp is higher than `seen` anyway. */
  isPast(seen: Version): boolean {
    if (seen.versionMs !== this.lastMs) return seen.versionMs < this.lastMs;
    return Math.floor(seen.versionTie / 1024) <= this.counter;
  }

  /** Makes every later stamp higher than `seen`. */
  observe(seen: Version): void {
    const counter = Math.floor(seen.versionTie / 1024);
    if (seen.versionMs > this.lastMs) {
      this.lastMs = seen.versionMs;
      this.counter = counter;
    } else if (seen.versionMs === this.lastMs && counter > this.counter) {
      this.counter = counter;
    }
  }
}
