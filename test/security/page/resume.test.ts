import { expect, test } from 'vitest';
import type { Finding } from '../findings/finding.ts';
import { type Kept, Progress, takenUp } from '../findings/resume.ts';
import { tryFindings } from '../findings/try.ts';

const held = { now: '1 ms', holds: true };
const missed = { now: '9 s', holds: false };

test('results of the same commit are taken up, and those of another are not', () => {
  const kept: Kept = { commit: 'a', rows: { x: held }, parts: ['fuzz'] };
  expect(takenUp(JSON.stringify(kept), 'a')).toEqual(kept);
  const none = { commit: 'b', rows: {}, parts: [] };
  expect(takenUp(JSON.stringify(kept), 'b')).toEqual(none);
  expect(takenUp(null, 'b')).toEqual(none);
});

test('a run that goes on makes only the attacks that were not made, or did not hold', async () => {
  const made: string[] = [];
  const written: Kept[] = [];
  const finding = (attack: string): Finding => ({
    number: 1,
    attack,
    before: '',
    limit: '',
    run: () => {
      made.push(attack);
      return Promise.resolve(held);
    },
  });
  const kept: Kept = { commit: 'a', rows: { x: held, y: missed }, parts: [] };
  const progress = new Progress(kept, (now) => written.push(now));
  const all = ['x', 'y', 'z', 'toString'].map(finding);
  const tried = await tryFindings(all, () => {}, progress);
  expect(made).toEqual(['y', 'z', 'toString']);
  expect(tried.every(({ holds }) => holds)).toBe(true);
  expect(Object.keys(written.at(-1)?.rows ?? {})).toEqual(['x', 'y', 'z', 'toString']);
  progress.done('findings');
  progress.done('findings');
  expect(written.at(-1)?.parts).toEqual(['findings']);
});
