/**
 * Timer ids as clients see them: `<16 hex unique><16 hex bloom>-<factor>`.
 *
 * Only the unique number identifies a timer; the bloom filter tells which members held it when the id was
 * given out, the factor how many replicas it has. A client that chooses its own number leaves the bloom
 * filter out. 64 bits do not fit a JavaScript number, so both halves travel as two unsigned 32-bit numbers.
 */

export interface TimerId {
  readonly hi: number;
  readonly lo: number;
  /** Both halves 0: no bloom filter, only the present replicas are asked. */
  readonly bloomHi: number;
  readonly bloomLo: number;
  readonly factor: number;
}

export const factorMax = 16;

/** The parts of an id, or null when the text is not one. */
export function parseTimerId(text: string): TimerId | null {
  const parts = parseLooseTimerId(text);
  return parts === null || parts.factor === null ? null : { ...parts, factor: parts.factor };
}

/** Like parseTimerId, but also takes an id without a factor, as Chronos does. */
export function parseLooseTimerId(
  text: string,
): (Omit<TimerId, 'factor'> & { readonly factor: number | null }) | null {
  const dash = text.indexOf('-');
  const hexEnd = dash === -1 ? text.length : dash;
  if (hexEnd !== 16 && hexEnd !== 32) return null;
  const hi = wordAt(text, 0);
  const lo = wordAt(text, 8);
  const bloomHi = hexEnd === 32 ? wordAt(text, 16) : 0;
  const bloomLo = hexEnd === 32 ? wordAt(text, 24) : 0;
  const factor = dash === -1 ? null : factorFrom(text, dash + 1);
  if (hi < 0 || lo < 0 || bloomHi < 0 || bloomLo < 0 || factor === 0) return null;
  return { hi, lo, bloomHi, bloomLo, factor };
}

/** Eight hex digits; −1: there is another character among them. By hand: every change of a timer reads an id. */
function wordAt(text: string, from: number): number {
  let word = 0;
  for (let at = from; at < from + 8; at++) {
    const code = text.charCodeAt(at);
    const isLetter = code >= 97 && code <= 102;
    if (!isLetter && !(code >= 48 && code <= 57)) return -1;
    word = (word << 4) | (isLetter ? code - 87 : code - 48);
  }
  return word >>> 0;
}

/** The rest of the text as a factor; 0: it is none. */
function factorFrom(text: string, from: number): number {
  const length = text.length - from;
  const first = text.charCodeAt(from) - 48;
  if (!(first >= 1 && first <= 9)) return 0;
  if (length === 1) return first;
  const second = text.charCodeAt(from + 1) - 48;
  const factor = first * 10 + second;
  return length === 2 && second >= 0 && second <= 9 && factor <= factorMax ? factor : 0;
}

/**
 * A key of the timer for maps: a fifth of the time of a text. Two timers have the same key with a chance of one in 2³²,
 * so it serves where two timers may now and then be taken for one.
 */
export function shortKey({ hi, lo }: Pick<TimerId, 'hi' | 'lo'>): number {
  return Math.imul(hi, 0x9e3779b1) ^ lo;
}

export function formatTimerId(id: TimerId): string {
  const bloom = id.bloomHi === 0 && id.bloomLo === 0 ? '' : hex16(id.bloomHi, id.bloomLo);
  return `${hex16(id.hi, id.lo)}${bloom}-${id.factor}`;
}

/** A 64-bit number as 16 hex digits. */
export function hex16(hi: number, lo: number): string {
  return hex8(hi) + hex8(lo);
}

/** Three times as fast as toString(16) and padding, and every set makes an id. */
function hex8(value: number): string {
  return String.fromCharCode(
    digit(value >>> 28),
    digit(value >>> 24),
    digit(value >>> 20),
    digit(value >>> 16),
    digit(value >>> 12),
    digit(value >>> 8),
    digit(value >>> 4),
    digit(value),
  );
}

/** The character code of the lowest four bits. */
function digit(value: number): number {
  const low = value & 15;
  return low < 10 ? 48 + low : 87 + low;
}

/** Reads 16 hex digits as two halves; null when the text is not that. */
export function parseHex16(text: string): { hi: number; lo: number } | null {
  if (!/^[0-9a-f]{16}$/.test(text)) return null;
  return { hi: Number.parseInt(text.slice(0, 8), 16), lo: Number.parseInt(text.slice(8), 16) };
}

const counterMax = 2 ** 12 - 1;

/**
 * Unique numbers: 42 bits of wall-clock milliseconds, 10 bits of member number, 12 bits of counter.
 * The milliseconds never go back: not when the clock does, and not over a restart, because the member
 * passes in the highest milliseconds it may have used before.
 */
export class NumberSource {
  private lastMs: number;
  /** Used up at the start: any number of `usedMs` may have been given out before. */
  private counter = counterMax;

  constructor(usedMs: number) {
    this.lastMs = usedMs;
  }

  /** The milliseconds in the newest number. */
  get usedMs(): number {
    return this.lastMs;
  }

  next(wallMs: number, member: number): { hi: number; lo: number } {
    if (wallMs > this.lastMs) {
      this.lastMs = wallMs;
      this.counter = 0;
    } else if (++this.counter > counterMax) {
      this.lastMs++;
      this.counter = 0;
    }
    const ms = this.lastMs % 2 ** 42;
    return {
      hi: Math.floor(ms / 2 ** 10) >>> 0,
      lo: (((ms % 2 ** 10) << 22) | ((member & 1023) << 12) | this.counter) >>> 0,
    };
  }
}
