import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import type { Peers } from '../replication/peers.ts';
import type { Answer, Message } from '../replication/wire.ts';
import type { Hello } from '../replication/wire-hello.ts';
import { Presence } from './presence.ts';

const hello: Hello = {
  release: '1',
  protocolMin: 1,
  protocolMax: 2,
  viewId: 'v',
  boot: 1,
  historyMs: 0,
  leaving: false,
  full: false,
  disk: 'whole' as const,
  wallMs: 0,
  timers: 0,
  primaries: 0,
  load: null,
};

describe('the clock of the cluster', () => {
  /** Two others whose clocks are off by these; `names` are the members of the view. */
  function meet(offsets: Readonly<Record<string, number>>) {
    const clock = new VirtualClock();
    const present = { names: Object.keys(offsets), leaving: false };
    const peers = {
      send: (name: string, _: Message, done: (answer: Answer) => void) => {
        const wallMs = clock.wall() + (offsets[name] ?? 0);
        clock.at(clock.now() + 1, () => {
          done({ type: 'hello', hello: { ...hello, wallMs, leaving: present.leaving } });
        });
      },
      silentSinceMs: () => null,
    };
    const seen = new Presence({
      clock,
      random: new SeededRandom(1),
      peers: peers as unknown as Peers,
      others: () => present.names,
      hello: () => hello,
      absentMs: 1000,
      onChange: () => undefined,
      onMet: () => undefined,
      onRestart: () => undefined,
    });
    seen.start();
    return { clock, present, seen };
  }

  test('is the median of all, and a member that vanishes from the view still counts for an hour', async () => {
    const { clock, present, seen } = meet({ b: 800, c: -4500 });
    await clock.advance(5000);
    expect(Math.round(seen.medianOffsetMs())).toBe(0);
    present.names = ['c'];
    await clock.advance(3_500_000);
    expect(Math.round(seen.medianOffsetMs())).toBe(0);
    expect(seen.offsetMs('b')).toBeNull();
    await clock.advance(200_000);
    expect(Math.round(seen.medianOffsetMs())).toBe(-4500);
  });

  test('a member that said that it leaves counts no longer once it has left', async () => {
    const { clock, present, seen } = meet({ b: 800, c: -4500 });
    present.leaving = true;
    await clock.advance(5000);
    present.names = ['c'];
    await clock.advance(5000);
    expect(Math.round(seen.medianOffsetMs())).toBe(-4500);
  });
});
