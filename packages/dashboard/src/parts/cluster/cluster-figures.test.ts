import { expect, test } from 'vitest';
import { clusterFigures, shareOf } from './cluster-figures.ts';
import type { MemberShape } from '../shapes.ts';

const member = (name: string, more: Partial<MemberShape> = {}): MemberShape => ({
  name,
  address: name,
  phase: 'active',
  weight: 1,
  labels: {},
  self: false,
  reachable: true,
  'clock-offset-ms': 0,
  timers: 20,
  primaries: 10,
  disk: 'whole',
  load: null,
  'dead-letters': 2,
  retrying: 1,
  answers: { '2xx': 5, refused: 1 },
  ...more,
});

test('figures of all members add up', () => {
  expect(clusterFigures([member('a'), member('b', { answers: { '2xx': 1 } })])).toEqual({
    timers: 20,
    letters: 4,
    retrying: 2,
    answers: { '2xx': 6, refused: 1 },
    of: 'in the cluster',
    atLeast: false,
  });
});

test('a silent member is left out, and so is a figure that is not told', () => {
  const silent = member('b', { reachable: false });
  const older = member('c', { 'dead-letters': null, retrying: null, answers: null });
  expect(clusterFigures([member('a'), silent, older])).toMatchObject({
    timers: 20,
    letters: 2,
    retrying: 1,
    of: 'no word from b',
    atLeast: true,
  });
});

test('the share of a member that does not tell is not known; of several, the ones that tell count', () => {
  const [told, none, untold] = [{ timers: 5 }, { timers: 0 }, { timers: null }];
  expect(shareOf([told], 20)).toBe(0.25);
  expect(shareOf([none], 20)).toBe(0);
  expect(shareOf([none], 0)).toBe(0);
  expect(shareOf([untold], 20)).toBeNull();
  expect(shareOf([told, untold], 20)).toBe(0.25);
});
