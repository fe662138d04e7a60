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
const memberMax = 1023;

export function compareVersions(a: Version, b: Version): number {
  return a.versionMs - b.versionMs || a.versionTie - b.versionTie;
}

/** Whether one member stamped both. */
export function stampedByOne(a: Version, b: Version): boolean {
  return (a.versionTie & memberMax) === (b.versionTie & memberMax);
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

/**
 * null for any text that is not a version, written as `formatVersion` writes it. Each change of a client is read here.
 */
export function parseVersion(text: string): Version | null {
  const point = text.indexOf('.');
  const versionMs = wholeNumber(text, 0, point);
  const versionTie = wholeNumber(text, point + 1, text.length);
  const isVersion = versionMs >= 0 && versionTie >= 0 && versionTie < 2 ** 32;
  return isVersion ? { versionMs, versionTie } : null;
}

/** −1: no whole number as JavaScript writes it, or one that is not safe. */
function wholeNumber(text: string, from: number, to: number): number {
  const length = to - from;
  if (length < 1 || length > 16 || (length > 1 && text.charCodeAt(from) === zero)) return -1;
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - zero;
    if (!(digit >= 0 && digit <= 9)) return -1;
    value = value * 10 + digit;
  }
  return value <= Number.MAX_SAFE_INTEGER ? value : -1;
}

const zero = 0x30;

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
    return { versionMs: this.lastMs, versionTie: this.counter * 1024 + (member & memberMax) };
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
