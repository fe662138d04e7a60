/** The known word that an unknown one was probably meant to be, for "did you mean …". Case does not count. */

/** null: no known word is within `slipsMax` slips of the fingers. */
export function nearestWord(
  given: string,
  known: readonly string[],
  slipsMax: number,
): string | null {
  let best: string | null = null;
  let bestSlips = slipsMax + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - given.length) >= bestSlips) continue;
    const slips = slipsBetween(given.toLowerCase(), candidate.toLowerCase());
    if (slips < bestSlips) [best, bestSlips] = [candidate, slips];
  }
  return best;
}

/** Letters in another order are one slip, though two changes or more. */
function slipsBetween(a: string, b: string): number {
  return a !== b && sorted(a) === sorted(b) ? 1 : editDistance(a, b);
}

function sorted(word: string): string {
  return word.split('').toSorted().join('');
}

/** Letters to add, remove or change to get from one word to the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
