import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import type { Peers } from '../replication/peers.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Message } from '../replication/wire/message.ts';
import { helloOf } from '../testing/records.ts';
import { Presence } from './presence.ts';

const hello = helloOf({ protocolMax: 2 });

function presenceOf(
  clock: VirtualClock,
  peers: object,
  others: () => readonly string[],
  onReunited: (aloneSinceMs: number) => void = () => undefined,
): Presence {
  return new Presence({
    clock,
    random: new SeededRandom(1),
    peers: peers as Peers,
    others,
    hello: () => hello,
    absentMs: 1000,
    onChange: () => undefined,
    onMet: () => undefined,
    onRestart: () => undefined,
    onReunited,
  });
}

test.each<[string, Readonly<Record<string, string>>, readonly string[], boolean]>([
  ['no other is there', {}, [], false],
  ['none was heard', { b: '', c: '' }, [], false],
  ['all go by it', { b: 'v1', c: 'v1' }, [], true],
  ['one goes by another', { b: 'v1', c: 'v0' }, [], false],
  ['one was not heard', { b: 'v1', c: '' }, [], false],
  ['one does not answer, the other goes by it', { b: 'v1', c: '' }, ['c'], true],
  ['none answers', { b: 'v1', c: 'v1' }, ['b', 'c'], false],
])('others agree on a view when they answer and go by it; %s', (_, viewIds, silent, expected) => {
  const peers = { silent: (name: string) => silent.includes(name) };
  const presence = presenceOf(new VirtualClock(), peers, () => Object.keys(viewIds));
  for (const [name, viewId] of Object.entries(viewIds))
    if (viewId !== '') presence.heard(name, { ...hello, viewId });
  expect(presence.agrees('v1')).toBe(expected);
});

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
      silent: () => false,
      silentSinceMs: () => null,
    };
    const seen = presenceOf(clock, peers, () => present.names);
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

describe('acquaintance after the start', () => {
  /** When every other member is known, or given up, if hellos are answered after these times; null: never. */
  async function acquaintedAtMs(...afterMs: readonly (number | null)[]): Promise<number> {
    const clock = new VirtualClock();
    const left = [...afterMs];
    const limitMs = 1000;
    const peers = {
      send: (_name: string, _message: Message, done: (answer: Answer | null) => void) => {
        const tookMs = left.shift() ?? null;
        const answer = tookMs === null || tookMs < 0 ? null : ({ type: 'hello', hello } as const);
        clock.at(clock.now() + Math.abs(tookMs ?? limitMs), () => done(answer));
      },
      silent: () => false,
      silentSinceMs: () => null,
    };
    const seen = presenceOf(clock, peers, () => ['b']);
    const startMs = clock.now();
    seen.start();
    while (!seen.acquainted) await clock.advance(50);
    return clock.now() - startMs;
  }

  test('a member that answers is known at once, and one whose connection is refused (-1: after 1 ms) is gone at once', async () => {
    expect(await acquaintedAtMs(1)).toBe(50);
    expect(await acquaintedAtMs(-1)).toBe(50);
  });

  test('a member that leaves the first hello unanswered for a second is waited for: it may only be slow', async () => {
    const atMs = await acquaintedAtMs(null, 300);
    expect(atMs).toBeGreaterThan(1000);
    expect(atMs).toBeLessThan(1500);
  });

  test('a member that answers none of three hellos is given up', async () => {
    const atMs = await acquaintedAtMs(null, null, null);
    expect(atMs).toBeGreaterThan(2500);
    expect(atMs).toBeLessThan(3500);
  });
});

describe('a member that no other one has answered for a while', () => {
  /** Two others: silent from 10 s to 70 s, and heard again then with these boots. */
  async function apart(boots: Readonly<Record<string, number>>) {
    const clock = new VirtualClock();
    const startMs = clock.now();
    const isCutOff = (): boolean =>
      clock.now() >= startMs + 10_000 && clock.now() < startMs + 70_000;
    const silentSince = new Map<string, number>();
    const peers = {
      send: (name: string, _: Message, done: (answer: Answer | null) => void) => {
        const boot = clock.now() < startMs + 10_000 ? 1 : (boots[name] ?? 1);
        clock.soon(() => {
          if (!isCutOff()) silentSince.delete(name);
          else if (!silentSince.has(name)) silentSince.set(name, startMs + 10_000);
          done(isCutOff() ? null : { type: 'hello', hello: { ...hello, boot } });
        });
      },
      silent: (name: string) => silentSince.has(name),
      silentSinceMs: (name: string) => silentSince.get(name) ?? null,
    };
    const reunited: number[] = [];
    const others = (): readonly string[] => Object.keys(boots);
    presenceOf(clock, peers, others, (ms) => reunited.push(ms - startMs)).start();
    await clock.advance(90_000);
    return reunited;
  }

  test('is told once when one is back that ran on, since when it was alone', async () => {
    expect(await apart({ b: 1, c: 1 })).toEqual([10_000]);
    expect(await apart({ b: 2, c: 1 })).toEqual([10_000]);
  });

  test('is not told where all others have restarted since: these were down', async () => {
    expect(await apart({ b: 2, c: 3 })).toEqual([]);
  });
});
