import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import type { Peers } from '../replication/peers.ts';
import type { Hello } from '../replication/wire-hello.ts';
import { Presence } from './presence.ts';

const load = { popsPerSecond: 3, latenessP50Ms: 1, latenessP99Ms: 2, lagMs: 1 };
const hello: Hello = {
  release: '1',
  protocolMin: 1,
  protocolMax: 2,
  viewId: 'v',
  boot: 1,
  historyMs: 0,
  leaving: false,
  full: false,
  wallMs: 0,
  timers: 0,
  primaries: 0,
  load,
};

function presence(): Presence {
  return new Presence({
    clock: new VirtualClock(),
    random: new SeededRandom(1),
    peers: {} as Peers,
    others: () => ['b'],
    hello: () => hello,
    absentMs: 1000,
    onChange: () => undefined,
    onRestart: () => undefined,
  });
}

test('a hello without a load leaves the one before, unless the member has started anew', () => {
  const seen = presence();
  seen.heard('b', hello);
  seen.heard('b', { ...hello, timers: 7, load: null });
  expect(seen.lastHello('b')).toMatchObject({ timers: 7, load });
  seen.heard('b', { ...hello, boot: 2, load: null });
  expect(seen.lastHello('b')?.load).toBeNull();
});
