/**
 * Silent damage to a disk: bits flipped, a page of zeros, a file cut in the middle, a file gone. Drawn as plain data,
 * as ratios, because the content of the disk at that time is not known when a plan is drawn.
 */
import type { MemoryDisk, SeededRandom } from '@carillon/core/testing';

const rotKinds = ['flip', 'zero', 'cut', 'gone'] as const;

export interface Rot {
  readonly does: (typeof rotKinds)[number];
  /** Which of the files, and where in it: 0 is the first, 1 beyond the last. */
  readonly file: number;
  readonly at: number;
}

const pageBytes = 4096;
/** Files whose damage means something. */
export const files = /^(journal|snapshot)-(\d{10})\.|^contents$|^born-/;

export function drawRots(random: SeededRandom): Rot[] {
  return Array.from({ length: random.between(1, 6) }, () => ({
    does: random.pick(rotKinds),
    file: random.unit(),
    at: random.unit(),
  }));
}

/** Damages the disk; answers the highest number of a segment or snapshot that was hit, 0 for none. */
export function rot(disk: MemoryDisk, rots: readonly Rot[]): number {
  let highest = 0;
  for (const one of rots) {
    const found = disk.look().filter(({ name }) => files.test(name));
    const file = found.toSorted((a, b) => (a.name < b.name ? -1 : 1))[
      Math.floor(one.file * found.length)
    ];
    if (file === undefined) return highest;
    damage(disk, file, one);
    highest = Math.max(highest, Number(files.exec(file.name)?.[2] ?? 0));
  }
  return highest;
}

function damage(disk: MemoryDisk, file: { name: string; size: number }, { does, at }: Rot): void {
  const offset = Math.floor(at * file.size);
  const page = Math.floor(offset / pageBytes) * pageBytes;
  if (does === 'gone') disk.lose(file.name);
  else if (file.size === 0) return;
  else if (does === 'flip') disk.flip(file.name, offset);
  else if (does === 'zero') disk.zero(file.name, page, Math.min(page + pageBytes, file.size));
  else disk.shorten(file.name, offset);
}

/** Whether all damaged files up to this number are out of use: a later snapshot is on the disk. */
export function isReplaced(disk: MemoryDisk, number: number): boolean {
  return disk.look().some(({ name }) => {
    const [, kind, digits] = files.exec(name) ?? [];
    return kind === 'snapshot' && Number(digits) > number;
  });
}
