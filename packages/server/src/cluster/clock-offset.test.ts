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

it('follows a clock that was set: old exchanges are forgotten', () => {
  const offset = new ClockOffset();
  offset.add({ sentWallMs: 0, roundTripMs: 1, peerWallMs: 0 });
  for (let i = 0; i < 16; i++)
    offset.add({ sentWallMs: i, roundTripMs: 10, peerWallMs: i + 60_005 });
  expect(offset.ms).toBe(60_000);
});
