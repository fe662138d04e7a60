/**
 * What happened, in order: a running hash always, the lines themselves where somebody wants to read or compare them.
 * Equal seeds give equal traces; a difference is a hidden clock, a hidden global or a set in the wrong order.
 */

/** Lines kept for the report of a failed run when the whole trace is not. */
const tailLength = 4000;

export class Trace {
  readonly lines: string[] = [];
  private readonly whole: boolean;
  private high = 0x811c9dc5;
  private low = 0x9747b28c;
  private count = 0;

  /** Whole: keep every line. */
  constructor(whole: boolean) {
    this.whole = whole;
  }

  get lineCount(): number {
    return this.count;
  }

  get hash(): string {
    return hex(this.high) + hex(this.low);
  }

  note(atMs: number, text: string): void {
    const line = `${atMs.toFixed(3)} ${text}`;
    this.count++;
    for (let i = 0; i < line.length; i++) this.mix(line.charCodeAt(i));
    this.lines.push(line);
    if (!this.whole && this.lines.length > 2 * tailLength) this.lines.splice(0, tailLength);
  }

  /** Bytes count for the hash only. */
  bytes(bytes: Uint8Array): void {
    for (const byte of bytes) this.mix(byte);
  }

  private mix(value: number): void {
    this.high = Math.imul(this.high ^ value, 0x01000193);
    this.low = Math.imul(this.low ^ (value + 0x9e), 0x85ebca6b);
    this.low ^= this.low >>> 13;
  }
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, '0');
}
