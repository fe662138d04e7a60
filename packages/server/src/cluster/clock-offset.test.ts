import { expect, it } from 'vitest';
import { ClockOffset } from './clock-offset.ts';

it('knows of no offset before the first answer', () => {
  expect(new ClockOffset().ms).toBe(0);
});

it('believes the quickest exchange: a slow one says little', () => {
  const offset = new ClockOffset();
  offset.add({ sentWallMs: 1000, roundTripMs: 400, peerWallMs: 6400 });
  offset.add({ sentWallMs: 2000, roundTripMs: 4, peerWallMs: 7002 });
  offset.add({ sentWallMs: 3000, roundTripMs: 900, peerWallMs: 8010 });
  expect(offset.ms).toBe(5000);
});

it('takes an offset that the network explains for none', () => {
  const offset = new ClockOffset();
  offset.add({ sentWallMs: 1000, roundTripMs: 400, peerWallMs: 1390 });
  expect(offset.ms).toBe(0);
});

it.each([
  ['the clock of the peer was set ahead', { sentWallMs: 9000, peerWallMs: 69_005 }, 60_000],
  ['the own clock was set ahead', { sentWallMs: 13_000, peerWallMs: 9005 }, -4000],
  ['the own clock was set back', { sentWallMs: 5000, peerWallMs: 9005 }, 4000],
])('follows at once, though earlier exchanges were quicker: %s', (_case, newest, ms) => {
  const offset = new ClockOffset();
  for (let i = 0; i < 16; i++) offset.add({ sentWallMs: i, roundTripMs: 1, peerWallMs: i });
  offset.add({ ...newest, roundTripMs: 10 });
  expect(offset.ms).toBe(ms);
});

it('keeps a quick exchange that a slow one does not gainsay', () => {
  const offset = new ClockOffset();
  offset.add({ sentWallMs: 0, roundTripMs: 2, peerWallMs: 5001 });
  for (let i = 1; i < 16; i++)
    offset.add({ sentWallMs: i, roundTripMs: 400, peerWallMs: i + 5390 });
  expect(offset.ms).toBe(5000);
});

it('forgets the quickest exchange after sixteen more', () => {
  const offset = new ClockOffset();
  offset.add({ sentWallMs: 0, roundTripMs: 2, peerWallMs: 5001 });
  for (let i = 1; i <= 16; i++) offset.add({ sentWallMs: i, roundTripMs: 4, peerWallMs: i + 5004 });
  expect(offset.ms).toBe(5002);
});
