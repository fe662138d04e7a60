import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hashOf } from './entry.ts';
import {
  bucketRange,
  encodeIndex,
  fanOutBytes,
  indexHeadBytes,
  offsetsOf,
  placesOffset,
  postingBytes,
  readIndexHead,
  readIndexTally,
  readPlaces,
} from './file-index.ts';
import { HistoryTally } from './tally.ts';
import { attemptEntry, changeEntry } from './testing/entries.ts';

const front = indexHeadBytes + fanOutBytes;

/** One block for each list of numbers. */
function build(blocks: readonly (readonly number[])[]) {
  const tally = new HistoryTally();
  const places = blocks.map((numbers, i) => {
    for (const lo of numbers) tally.add(attemptEntry({ hi: 0, lo, wallMs: i }), 30);
    return { offset: 16 + i * 1000, entryCount: numbers.length, firstMs: i, lastMs: i };
  });
  return { bytes: encodeIndex(99_999, places, tally), places, tally };
}

it('leads from a number to the blocks with entries of it, as a search through all entries does', () => {
  const numbers = fc.array(fc.nat({ max: 60 }), { maxLength: 30 });
  fc.assert(
    fc.property(fc.array(numbers, { maxLength: 12 }), fc.nat({ max: 70 }), (blocks, lo) => {
      const { bytes, places } = build(blocks);
      const { from, to } = bucketRange(bytes.subarray(0, front), hashOf(0, lo));
      const postings = bytes.subarray(front + from * postingBytes, front + to * postingBytes);
      const expected = places.filter((_, i) => blocks[i]?.includes(lo)).map(({ offset }) => offset);
      expect(offsetsOf(postings, hashOf(0, lo))).toEqual(expected.toReversed());
    }),
  );
});

it('has the list of blocks and the tally of the file', () => {
  const { bytes, places, tally } = build([[1, 2], [3], []]);
  const head = readIndexHead(bytes);
  if (head === null) throw new Error('no head');
  const from = placesOffset(head);
  expect(readPlaces(bytes.subarray(from), head.blockCount)).toEqual(places);
  const read = readIndexTally(head, bytes.subarray(0, front), bytes.subarray(from));
  expect(read?.toJson()).toEqual(tally.toJson());
  expect(head.fileBytes).toBe(99_999);
});

it('is refused with another byte anywhere but in the postings', () => {
  const { bytes } = build([[1, 2], [3]]);
  const whole = readIndexHead(bytes);
  if (whole === null) throw new Error('no head');
  const from = placesOffset(whole);
  for (let at = 0; at < bytes.length; at += at > 40 && at < front - 9 ? 9 : 1) {
    if (at >= front && at < from) continue;
    const damaged = Uint8Array.from(bytes);
    damaged[at] = (damaged[at] as number) ^ 0x11;
    const head = readIndexHead(damaged);
    if (head === null) continue;
    const back = damaged.subarray(placesOffset(head));
    expect(readIndexTally(head, damaged.subarray(0, front), back), `byte ${at}`).toBeNull();
  }
});

it('a tally tells actors, actions and shares, and says "any" where actors are too many', () => {
  const tally = new HistoryTally();
  tally.add(changeEntry({ actor: 'shop', action: 'cancel', namespace: 'a' }), 10);
  tally.add(attemptEntry({ detail: 'x', wallMs: 5, namespace: 'b' }), 20);
  expect(tally.mayHaveActor('shop')).toBe(true);
  expect(tally.mayHaveActor('other')).toBe(false);
  expect(tally.mayHaveAction('cancel')).toBe(true);
  expect(tally.mayHaveAction('set')).toBe(false);
  expect(tally.shares.get('b')).toEqual({ bytes: 20, answerCount: 1, answersFromMs: 5 });
  for (let i = 0; i < 300; i++) tally.add(changeEntry({ actor: `token-${i}` }), 10);
  expect(tally.mayHaveActor('other')).toBe(true);
  expect(HistoryTally.of(tally.toJson()).mayHaveActor('other')).toBe(true);
});
