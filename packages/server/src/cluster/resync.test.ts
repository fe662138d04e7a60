import type { TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { describe, expect, it, vi } from 'vitest';
import { memberOf, QuietMembers, replicaOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import { HandOff } from './hand-off.ts';
import { Resync, type ResyncParts } from './resync.ts';
import { View } from './view/view.ts';

/** The resync of member `a`, which holds one record; `absent` members do not answer. */
function resyncOf(record: TimerRecord, parts: Partial<ResyncParts>, absent = new Set<string>()) {
  const clock = new VirtualClock();
  const replica = replicaOf();
  replica.receive(record, 'any', () => undefined);
  const handedOff: number[] = [];
  const handOff = { moving: 0, add: ({ lo }: TimerRecord) => handedOff.push(lo) };
  let finished = 0;
  const resync = new Resync({
    self: 'a',
    clock,
    replica,
    handOff: handOff as unknown as HandOff,
    desired: () => ['a', 'b'],
    present: (name) => !absent.has(name),
    lasting: () => true,
    able: (name) => !absent.has(name),
    onUnconfirmed: () => undefined,
    onFinished: () => finished++,
    onUnchanged: () => undefined,
    ...parts,
  });
  const walk = async (): Promise<void> => {
    const before = finished;
    resync.start();
    await clock.advance(10);
    expect(finished).toBe(before + 1);
  };
  return { resync, replica, handedOff, walk };
}

/** Member `a` after it has walked its records. */
async function walked(...of: Parameters<typeof resyncOf>) {
  const [{ hi, lo }] = of;
  const { resync, replica, handedOff, walk } = resyncOf(...of);
  await walk();
  const replicas = replica.get(hi, lo)?.replicas;
  return { replicas, handedOff, moved: resync.progress.moved, irregular: resync.irregularCount };
}

const record = recordOf({ replicas: ['a', 'b'] });

describe('a walk over the records', () => {
  it('leaves a record alone that is listed right', async () => {
    const unchanged = { replicas: ['a', 'b'], handedOff: [], moved: 0, irregular: 0 };
    expect(await walked(record, {})).toEqual(unchanged);
  });

  it('writes the new list; the first present replica of the old one offers the record', async () => {
    const moves = { desired: () => ['c', 'a'] };
    const moved = { replicas: ['c', 'a'], handedOff: [2], moved: 1, irregular: 0 };
    expect(await walked(record, moves)).toEqual(moved);
    const second = { ...record, replicas: ['b', 'a'] };
    expect(await walked(second, moves)).toEqual({ ...moved, handedOff: [] });
    // The first of the old list is gone: the second offers.
    expect(await walked(second, moves, new Set(['b']))).toEqual(moved);
  });

  it('hands a record on that is no longer for this member', async () => {
    const second = { ...record, replicas: ['b', 'a'] };
    const gone = await walked(second, { desired: () => ['b', 'c'] });
    expect(gone).toEqual({ replicas: ['b', 'c'], handedOff: [2], moved: 1, irregular: 0 });
  });

  it('keeps a stand-in listed while a wanted replica does not answer', async () => {
    const stoodIn = { ...record, replicas: ['a', 'b', 'c'] };
    const kept = await walked(stoodIn, {}, new Set(['b']));
    expect(kept).toEqual({ replicas: ['a', 'b', 'c'], handedOff: [], moved: 0, irregular: 1 });
    expect((await walked(stoodIn, {})).replicas).toEqual(['a', 'b']);
  });

  it('keeps a former stand-in listed while a wanted replica does not answer, although another one stands in', async () => {
    const stoodIn = { ...record, replicas: ['a', 'b', 'c'] };
    const moves = { desired: () => ['a', 'b', 'd'] };
    expect((await walked(stoodIn, moves, new Set(['b']))).replicas).toEqual(['a', 'b', 'd', 'c']);
    expect((await walked(stoodIn, moves)).replicas).toEqual(['a', 'b', 'd']);
  });
});

describe('the first walk after a start', () => {
  it.each<[string, readonly string[], readonly (readonly string[])[]]>([
    ['as a replica', ['a', 'b'], []],
    ['as a replica, beside a stand-in', ['b', 'a', 'c'], []],
    ['as a stand-in', ['b', 'c', 'a'], [['b', 'c']]],
    ['to hand it on', ['b', 'c'], [['b', 'c']]],
  ])('of a record that this member held %s', async (_, replicas, expected) => {
    const told: (readonly string[])[] = [];
    const onUnconfirmed = (_number: unknown, names: readonly string[]): unknown => told.push(names);
    const { walk } = resyncOf({ ...record, replicas }, { onUnconfirmed, desired: () => replicas });
    await walk();
    expect(told).toEqual(expected);
    await walk();
    expect(told).toEqual(expected);
  });
});

describe('after a change of the view', () => {
  const names = ['a', 'b', 'c', 'd'];
  const grown = new View({ source: 'static', revision: 2, members: names.map((n) => memberOf(n)) });

  /**
   * A record whose replicas change when `d` joins the view. `d` holds the record already, changed by `older`; null: it
   * does not.
   */
  async function joined(older: Partial<TimerRecord> | null) {
    const all = await QuietMembers.start(names, ['a', 'b', 'c']);
    let lo = 1;
    while (!grown.place(1, lo, 2).includes('d')) lo++;
    const before = all.of('a').cluster.view.place(1, lo, 2);
    const timer = recordOf({ lo, sequence: 5, replicas: before });
    for (const name of before) all.of(name).replica.receive(timer, 'any', () => undefined);
    const known = { ...timer, replicas: [...before, 'd'], ...older };
    if (older !== null) all.of('d').replica.receive(known, 'any', () => undefined);
    all.show(grown.members);
    await all.clock.advance(2000);
    // A message from before the move comes late.
    const late = { ...timer, versionMs: 400, replicas: before };
    for (const name of Object.keys(all.held(timer))) {
      all.of(name).replica.receive(late, 'any', () => undefined);
    }
    await all.clock.advance(2000);
    return { held: all.held(timer), replicas: grown.place(1, lo, 2) };
  }

  it.each([
    ['nothing', null],
    ['an older state', { sequence: 3 }],
    ['an older version', { versionMs: 500, sequence: 9 }],
  ])('the new replica, which held %s, has the record, and no member besides', async (_, older) => {
    const { held, replicas } = await joined(older);
    expect(Object.keys(held).toSorted()).toEqual(replicas.toSorted());
    for (const kept of Object.values(held)) {
      expect(kept).toMatchObject({ versionMs: 1000, sequence: 5, replicas });
    }
  });

  it('a newer state that the new replica held reaches the others', async () => {
    const { held, replicas } = await joined({ versionMs: 2000, sequence: 0 });
    expect(Object.keys(held).toSorted()).toEqual(replicas.toSorted());
    for (const kept of Object.values(held)) {
      expect(kept).toMatchObject({ versionMs: 2000, sequence: 0, replicas });
    }
  });

  it('each holder hands the record on once', async () => {
    const add = vi.spyOn(HandOff.prototype, 'add');
    await joined(null);
    const handers = add.mock.contexts.map((handOff) => handOff);
    expect(handers.length).toBeGreaterThan(0);
    expect(new Set(handers).size).toBe(handers.length);
    add.mockRestore();
  });
});

describe('records whose lists are not those of the view', () => {
  it('are looked at after 5 s, 200 in a turn', async () => {
    const turns: (() => void)[] = [];
    const clock = new VirtualClock();
    clock.soon = (turn) => turns.push(turn);
    const replica = replicaOf();
    const looked: number[] = [];
    const resync = new Resync({
      self: 'a',
      clock,
      replica,
      handOff: { moving: 0, add: () => undefined } as unknown as HandOff,
      desired: ({ lo, replicas }) => {
        looked.push(lo);
        return replicas;
      },
      present: () => true,
      lasting: () => true,
      able: () => true,
      onUnconfirmed: () => undefined,
      onFinished: () => undefined,
      onUnchanged: () => undefined,
    });
    for (let lo = 1; lo <= 450; lo++) {
      const irregular = recordOf({ lo, replicas: ['a', 'b'] });
      replica.receive(irregular, 'any', () => undefined);
      resync.noteIrregular(irregular);
    }
    await clock.advance(4999);
    expect(looked).toHaveLength(0);
    await clock.advance(1);
    expect([looked.length, resync.irregularCount]).toEqual([200, 250]);
    resync.noteIrregular(recordOf({ lo: 1 }));
    turns.shift()?.();
    expect(looked).toHaveLength(400);
    turns.shift()?.();
    expect([new Set(looked).size, looked.length, resync.irregularCount]).toEqual([450, 450, 1]);
    await clock.advance(5000);
    expect([looked.length, turns.length, resync.irregularCount]).toEqual([451, 0, 0]);
  });
});
