/** The known word that differs in the fewest letters, if it is near enough to be meant; null otherwise. */
export function nearestWord(given: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(given.length / 3)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - given.length) >= bestDistance) continue;
    // Two letters swapped is one slip of the fingers, though two changes.
    const distance = sorted(given) === sorted(candidate) ? 1 : editDistance(given, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
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
