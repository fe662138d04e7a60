/**
 * The results of a security run so far, in a file: a run that was broken off, or had rows that did not hold on a busy
 * machine, goes on with `--resume` and ends as one run. Results of another commit are not taken up.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Measured } from './finding.ts';

export interface Kept {
  readonly commit: string;
  /** Rows by their attack. */
  readonly rows: Readonly<Record<string, Measured>>;
  /** Parts that ended well. */
  readonly parts: readonly string[];
}

const file = join(import.meta.dirname, '../../../.cache/security-run.json');

export class Progress {
  private kept: Kept;
  private readonly write: (kept: Kept) => void;

  constructor(kept: Kept, write: (kept: Kept) => void = () => {}) {
    this.kept = kept;
    this.write = write;
  }

  /** A result to take up; null: the attack is still to be made. */
  row(attack: string): Measured | null {
    const row = Object.hasOwn(this.kept.rows, attack) ? this.kept.rows[attack] : undefined;
    return row?.holds === true ? row : null;
  }

  isDone(part: string): boolean {
    return this.kept.parts.includes(part);
  }

  tried(attack: string, { now, holds }: Measured): void {
    this.keep({ ...this.kept, rows: { ...this.kept.rows, [attack]: { now, holds } } });
  }

  done(part: string): void {
    if (!this.isDone(part)) this.keep({ ...this.kept, parts: [...this.kept.parts, part] });
  }

  private keep(kept: Kept): void {
    this.kept = kept;
    this.write(kept);
  }
}

/** The results of before where they are of this commit, else none. */
export function takenUp(text: string | null, commit: string): Kept {
  const none: Kept = { commit, rows: {}, parts: [] };
  if (text === null) return none;
  const kept = JSON.parse(text) as Kept;
  return kept.commit === commit ? kept : none;
}

/** Results are kept for a later run if this one takes up an earlier one, or `isKept`. */
export function openProgress(isResumed: boolean, isKept: boolean): Progress {
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  return new Progress(takenUp(isResumed ? readIfThere() : null, commit), (kept) => {
    if (!isResumed && !isKept) return;
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(kept, null, 2));
  });
}

function readIfThere(): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
