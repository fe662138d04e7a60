import { describe, expect, test } from 'vitest';
import type { Network } from '../env.ts';
import { MemoryHub } from './memory-network.ts';
import { networkContract } from './network.contract.ts';
import { SeededRandom } from './seeded-random.ts';
import { settle, VirtualClock } from './virtual-clock.ts';

networkContract('MemoryHub', () => {
  const clock = new VirtualClock();
  const hub = new MemoryHub({ clock });
  let count = 0;
  return Promise.resolve({
    nowhere: 'nowhere',
    join: () => {
      const address = `member-${count++}`;
      return { network: hub.join(address), address: () => address };
    },
    until: (outcome) => drive(clock, outcome),
    end: () => Promise.resolve(),
  });
});

async function drive<T>(clock: VirtualClock, outcome: Promise<T>): Promise<T> {
  const state = { open: true };
  const watched = outcome.finally(() => {
    state.open = false;
  });
  await settle();
  while (state.open && clock.step()) await settle();
  return watched;
}

function worldOf(options: { delayMs?: number } = {}) {
  const clock = new VirtualClock();
  const hub = new MemoryHub({ clock, random: new SeededRandom(7), ...options });
  const [a, b] = [hub.join('a'), hub.join('b')];
  return { clock, hub, a, b };
}

async function answerTimes(clock: VirtualClock, from: Network, limitMs: number): Promise<unknown> {
  let outcome: unknown;
  from.call('b', new Uint8Array([1]), { limitMs }, (answer) => {
    outcome = { atMs: clock.now(), answered: answer !== null };
  });
  await clock.advance(limitMs);
  return outcome;
}

describe('MemoryHub', () => {
  test('frames and answers take the delay each way', async () => {
    const { clock, a, b } = worldOf({ delayMs: 20 });
    await b.listen((frame, reply) => reply(frame));
    expect(await answerTimes(clock, a, 100)).toEqual({ atMs: 40, answered: true });
  });

  test('a cut one way loses the frame, the other way the answer after its effect', async () => {
    for (const [from, to, effects] of [
      ['a', 'b', 0],
      ['b', 'a', 1],
    ] as const) {
      const { clock, hub, a, b } = worldOf();
      let seen = 0;
      await b.listen((frame, reply) => {
        seen++;
        reply(frame);
      });
      hub.cut(from, to);
      expect(await answerTimes(clock, a, 100)).toEqual({ atMs: 100, answered: false });
      expect(seen).toBe(effects);
      hub.heal(from, to);
      expect(await answerTimes(clock, a, 100)).toEqual({ atMs: 102, answered: true });
    }
  });

  test('about the asked share of frames is lost', async () => {
    const { clock, hub, a, b } = worldOf();
    hub.lossRatio = 0.3;
    await b.listen((frame, reply) => reply(frame));
    let answered = 0;
    for (let i = 0; i < 1000; i++) {
      a.call('b', new Uint8Array([1]), { limitMs: 100 }, (answer) => {
        if (answer !== null) answered++;
      });
    }
    await clock.advance(100);
    // 0.7 of the frames arrive, and 0.7 of their answers.
    expect(answered).toBeGreaterThan(430);
    expect(answered).toBeLessThan(550);
  });

  test('a party that comes back at its address is the one that is reached', async () => {
    const { clock, hub, a, b } = worldOf();
    await b.listen(() => {});
    await b.close();
    await hub.join('b').listen((frame, reply) => reply(frame));
    expect(await answerTimes(clock, a, 100)).toEqual({ atMs: 2, answered: true });
  });
});
