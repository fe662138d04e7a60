/**
 * Room for long answers, such as pages of lists: their items stay in memory until the client has read them, or has
 * left. Each takes the same, from the beginning of the work on it to the last byte written.
 *
 * R1  All together never take more than the limit.
 * R2  Where there is no room, clients that have read nothing for a while are cut, the most idle first; while all of
 *     them read, further long requests are refused.
 */

/** A connection with a long answer under way. */
export interface Reader {
  /** When the client last read some bytes, or none waited for it. */
  readonly takenMs: number;
  cut(): void;
}

/** A page of a list, and its timers taken apart to be written. */
export const longAnswerBytes = 2 * 1024 * 1024;
/** When a client last read is known to about two seconds. */
const stalledMs = 4000;

export class AnswerRoom {
  private readonly countMax: number;
  private readonly readers = new Set<Reader>();

  constructor(bytesMax: number) {
    this.countMax = Math.max(1, Math.floor(bytesMax / longAnswerBytes));
  }

  get bytes(): number {
    return this.readers.size * longAnswerBytes;
  }

  /** Whether there is room for one more long answer; it is taken then. */
  take(reader: Reader, nowMs: number): boolean {
    if (this.readers.size >= this.countMax && !this.makeRoom(nowMs)) return false;
    this.readers.add(reader);
    return true;
  }

  give(reader: Reader): void {
    this.readers.delete(reader);
  }

  private makeRoom(nowMs: number): boolean {
    let worst: Reader | null = null;
    for (const reader of this.readers) {
      if (worst === null || reader.takenMs < worst.takenMs) worst = reader;
    }
    if (worst === null || nowMs - worst.takenMs < stalledMs) return false;
    this.readers.delete(worst);
    worst.cut();
    return true;
  }
}
