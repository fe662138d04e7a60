/**
 * Which files of the history go, which entries are out of their namespace's budget, and which file is to be written
 * anew without some of its entries. Pure.
 *
 * Example with files of 8 MiB, `bytesMax` 64 MiB and a budget of 16 MiB for `shop`: ten files are there, 1 to 10. The
 * oldest go until 64 MiB are left: 1 and 2. From the newest back, `shop` has 5, 6 and 7 MiB in files 10, 9 and 8: with
 * file 8 it is over its budget, so entries of `shop` in files up to 8 are not shown any more. File 3 is the first of
 * them, `shop` has a quarter of it or more, so file 3 is written anew without them; the next ones follow.
 */
import type { Share } from './tally.ts';

export interface Kept {
  readonly number: number;
  /** With its index. */
  readonly bytes: number;
  readonly lastMs: number;
  readonly shares: ReadonlyMap<string, Readonly<Share>>;
  /** Entries are appended to it: it is never removed or written anew. */
  readonly isOpen: boolean;
}

export interface RetentionLimits {
  readonly keepMs: number;
  readonly bytesMax: number;
  /** Bytes of one namespace. */
  readonly budgetOf: (namespace: string) => number;
}

/** Answers of a namespace before this time are erased. */
export type Erased = ReadonlyMap<string, number>;

export interface RetentionPlan {
  readonly remove: readonly number[];
  /** By namespace: entries of it in files up to this number are out of its budget. */
  readonly cutOffs: ReadonlyMap<string, number>;
  /** The file to be written anew next; null: none. */
  readonly rewrite: number | null;
  /** Namespaces whose erased answers are nowhere any more. */
  readonly erased: readonly string[];
}

/** A file is written anew when at least this part of it is out of budget: less is not worth the writing. */
const worthRatio = 0.25;

/** `files`: the oldest first. */
export function planRetention(
  files: readonly Kept[],
  limits: RetentionLimits,
  erased: Erased,
  wallMs: number,
): RetentionPlan {
  const remove = removable(files, limits, wallMs);
  const left = files.filter(({ number }) => !remove.includes(number));
  const cutOffs = cutOffsOf(left, limits);
  const isDue = (file: Kept): boolean =>
    !file.isOpen && (hasErased(file, erased) || isWorth(file, cutOffs));
  return {
    remove,
    cutOffs,
    rewrite: left.find(isDue)?.number ?? null,
    erased: [...erased.keys()].filter(
      (name) => !left.some((file) => hasAnswersBefore(file, name, erased.get(name) ?? 0)),
    ),
  };
}

function removable(files: readonly Kept[], limits: RetentionLimits, wallMs: number): number[] {
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const gone: number[] = [];
  for (const file of files) {
    if (file.isOpen) continue;
    const isOld = file.lastMs < wallMs - limits.keepMs;
    if (!isOld && bytes <= limits.bytesMax) continue;
    gone.push(file.number);
    bytes -= file.bytes;
  }
  return gone;
}

/** The newest file is never cut off: a namespace may be over its budget by as much as that. */
function cutOffsOf(files: readonly Kept[], limits: RetentionLimits): Map<string, number> {
  const sums = new Map<string, number>();
  const cutOffs = new Map<string, number>();
  for (const { number, shares } of files.toReversed()) {
    for (const [name, { bytes }] of shares) {
      const before = sums.get(name);
      sums.set(name, (before ?? 0) + bytes);
      const isOver = before !== undefined && before + bytes > limits.budgetOf(name);
      if (isOver && !cutOffs.has(name)) cutOffs.set(name, number);
    }
  }
  return cutOffs;
}

function isWorth({ number, shares }: Kept, cutOffs: ReadonlyMap<string, number>): boolean {
  let out = 0;
  let all = 0;
  for (const [name, { bytes }] of shares) {
    all += bytes;
    if (number <= (cutOffs.get(name) ?? -1)) out += bytes;
  }
  return out > 0 && out >= all * worthRatio;
}

function hasErased(file: Kept, erased: Erased): boolean {
  return [...erased].some(([name, beforeMs]) => hasAnswersBefore(file, name, beforeMs));
}

function hasAnswersBefore({ shares }: Kept, namespace: string, beforeMs: number): boolean {
  const share = shares.get(namespace);
  return share !== undefined && share.answerCount > 0 && share.answersFromMs < beforeMs;
}
