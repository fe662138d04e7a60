/**
 * The order of dead letters on a page. Members list letters by id, which says nothing of their time, so pages follow
 * the ids and the letters of each are sorted here. Pure.
 */
import { counted } from '../../format.ts';
import type { DeadLetterShape } from '../shapes.ts';

/** The latest due time first. */
export function newestFirst<T extends Pick<DeadLetterShape, 'id' | 'due' | 'sequence'>>(
  letters: readonly T[],
): T[] {
  return letters.toSorted(
    (a, b) =>
      Date.parse(b.due) - Date.parse(a.due) || b.sequence - a.sequence || (a.id < b.id ? -1 : 1),
  );
}

/** How many letters match, and their order, in words; `total` is null while it is not known. */
export function listNote(total: number | null, isOnePage: boolean): string {
  if (total === null || total === 0) return '';
  const order = isOnePage
    ? 'the newest first'
    : 'the newest of each page first; pages follow the ids';
  return `${counted(total, 'letter')}, ${order}`;
}
