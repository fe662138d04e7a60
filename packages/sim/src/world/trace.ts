/**
 * The events of a run, in order: always as a running hash, as lines only when they are to be read or compared. Equal
 * seeds give equal traces; a difference is a hidden clock, a hidden global or a set in the wrong order.
 */

/** True time moves in steps of 1/1024 ms: in these it is a whole number. */
const grainsPerMs = 1024;
const wordSize = 2 ** 32;

export class Trace {
  /** All of them, or none. */
  readonly lines: string[] = [];
  private readonly whole: boolean;
  private high = 0x811c9dc5;
  private low = 0x9747b28c;

  /** Whole: keep every line. */
  constructor(whole: boolean) {
    this.whole = whole;
  }

  get hash(): string {
    return hex(this.high) + hex(this.low);
  }

  note(atMs: number, text: string): void {
    let { high } = this;
    for (let i = 0; i < text.length; i++) high = Math.imul(high ^ text.charCodeAt(i), 0x01000193);
    this.high = high;
    this.moment(atMs);
    if (this.whole) this.lines.push(`${atMs.toFixed(3)} ${text}`);
  }

  /** A frame on its way: its bytes count for the hash only. */
  frame(atMs: number, way: string, bytes: Uint8Array): void {
    let { high } = this;
    for (let i = 0; i < way.length; i++) high = Math.imul(high ^ way.charCodeAt(i), 0x01000193);
    for (let i = 0; i < bytes.length; i++) {
      high = Math.imul(high ^ (bytes[i] as number), 0x01000193);
    }
    this.high = high;
    this.moment(atMs);
    if (this.whole) this.lines.push(`${atMs.toFixed(3)} ${way} ${bytes.length}`);
  }

  /** Mixes the time of the last event into the hash, so that its moment and its place among all events count. */
  private moment(atMs: number): void {
    const grains = Math.round(atMs * grainsPerMs);
    const low = Math.imul(this.low ^ this.high ^ (grains / wordSize), 0x85ebca6b) ^ grains;
    this.low = Math.imul(low ^ (low >>> 13), 0x01000193);
  }
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}
