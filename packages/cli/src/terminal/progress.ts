/** The progress of long work, on one line of a terminal that is written anew; nothing without a terminal. */
import type { Io } from '../command.ts';
import { paintErr } from './style.ts';

const everyMs = 100;
const barLength = 24;
/** Up one line, and empty it: the line before was this one's. */
const again = '\u001b[1A\u001b[2K';

export class Progress {
  private readonly io: Io;
  private readonly shown: boolean;
  private nextMs = 0;
  private lines = 0;

  /** `shown: false` for results that go to the same terminal, and for programs. */
  constructor(io: Io, shown: boolean) {
    this.io = io;
    this.shown = shown && io.errColor;
  }

  /** `share`: from 0 to 1, or null where the end is not known. */
  update(share: number | null, text: string): void {
    if (!this.shown || Date.now() < this.nextMs) return;
    this.nextMs = Date.now() + everyMs;
    this.io.err(`${this.lines++ === 0 ? '' : again}${bar(this.io, share)}${text}`);
  }

  /** Something else was printed: the next update is a line of its own below it. */
  interrupted(): void {
    this.lines = 0;
  }
}

function bar(io: Io, share: number | null): string {
  if (share === null) return '';
  const full = Math.round(Math.min(1, Math.max(0, share)) * barLength);
  const rest = paintErr(io, 'dim', '·'.repeat(barLength - full));
  return `${paintErr(io, 'green', '█'.repeat(full))}${rest} ${Math.floor(share * 100)}%  `;
}
