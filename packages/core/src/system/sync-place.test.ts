import { expect, it } from 'vitest';
import { SyncPlace } from './sync-place.ts';

/** How many syncs go to a thread before the next one is made at once. */
function elsewhereCount(place: SyncPlace): number {
  let count = 0;
  while (!place.isHere()) count += 1;
  return count;
}

it('makes syncs at once on a disk that takes 0.1 ms for one', () => {
  const place = new SyncPlace();
  for (let nth = 0; nth < 10_000; nth += 1) {
    expect(place.isHere()).toBe(true);
    place.took(0.1);
  }
});

it('stays with quick syncs when one of them takes 2 ms', () => {
  const place = new SyncPlace();
  for (let nth = 0; nth < 100; nth += 1) place.took(0.1);
  place.took(2);
  expect(place.isHere()).toBe(true);
});

it('hands syncs of a slow disk to a thread, and tries one at once less and less often', () => {
  const place = new SyncPlace();
  const counts: number[] = [];
  for (let nth = 0; nth < 11; nth += 1) {
    counts.push(elsewhereCount(place));
    place.took(5);
  }
  expect(counts).toEqual([0, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 65_536]);
});

it('comes to a thread for a disk that has become 0.3 ms slow, after few syncs', () => {
  const place = new SyncPlace();
  let count = 0;
  for (; place.isHere(); count += 1) place.took(0.3);
  expect(count).toBeLessThan(40);
});

it('forgets a slow time after 256 quick syncs', () => {
  const place = new SyncPlace();
  place.took(5);
  elsewhereCount(place);
  place.took(5);
  expect(elsewhereCount(place)).toBe(512);
  for (let nth = 0; nth < 256; nth += 1) place.took(0.1);
  place.took(50);
  expect(elsewhereCount(place)).toBe(256);
});
