import type { TimerRecord } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { describe, expect, it } from 'vitest';
import type { MessageAnswered, Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import type { Message } from '../replication/wire/message.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import { replicaOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import { HandOff } from './hand-off.ts';
import { createHandler, type HandlerParts } from './peer-handler.ts';

/** A holder `a` of some records, and peers that need everything they are offered, unless they are silent. */
class Rig {
  readonly clock = new VirtualClock();
  readonly silent = new Set<string>();
  /** Members that have every record they are offered. */
  readonly holding = new Set<string>();
  /** The member leaves, and does not wait for these. */
  readonly abandoned = new Set<string>();
  /** Members that were told which others lack a record. */
  readonly told: { readonly name: string; readonly names: readonly string[] }[] = [];
  readonly stored: { readonly name: string; readonly lo: number }[] = [];
  readonly unconfirmed: { readonly name: string; readonly lo: number }[] = [];
  readonly records = new Map<number, TimerRecord>();
  readonly handOff = new HandOff({
    self: 'a',
    clock: this.clock,
    replica: {
      get: (_hi: number, lo: number) => this.records.get(lo),
      drop: ({ lo }: Numbered) => this.records.delete(lo),
    } as unknown as Replica,
    peers: {
      silent: (name: string) => this.silent.has(name),
      send: (name: string, message: Message, done: MessageAnswered) =>
        this.send(name, message, done),
    } as unknown as Peers,
    busy: () => false,
    onUnconfirmed: (name, { lo }) => this.unconfirmed.push({ name, lo }),
    leavesWithout: (names) => names.every((name) => this.abandoned.has(name)),
    onDropped: () => undefined,
    onPushed: () => undefined,
  });

  add(lo: number, replicas: readonly string[], dueMs = 10_000): void {
    const record = recordOf({ lo, replicas, dueMs, gapMs: 3000 });
    this.records.set(lo, record);
    this.handOff.add(record);
  }

  private send(name: string, message: Message, done: MessageAnswered): void {
    this.clock.soon(() => {
      if (this.silent.has(name)) return done(null);
      if (message.type === 'unconfirmed') {
        this.told.push({ name, names: message.names });
        return done({ type: 'ok' });
      }
      if (message.type !== 'store') {
        return done({ type: this.holding.has(name) ? 'stored' : 'need' });
      }
      this.stored.push({ name, lo: message.record.lo });
      done({ type: 'stored' });
    });
  }
}

describe('a hand-off', () => {
  it('gives a record to every listed replica, and drops it where it is not listed', async () => {
    const rig = new Rig();
    rig.add(1, ['b', 'c']);
    rig.add(2, ['a', 'b']);
    await rig.clock.advance(10);
    expect(rig.stored).toEqual([
      { name: 'b', lo: 1 },
      { name: 'c', lo: 1 },
      { name: 'b', lo: 2 },
    ]);
    expect([...rig.records.keys()]).toEqual([2]);
    expect(rig.handOff.size).toBe(0);
  });

  it('sends a record to a replica that has it only as a stand-in: the replica may not know of its copy', async () => {
    const rig = new Rig();
    rig.holding.add('b').add('c');
    rig.add(1, ['b', 'c', 'a']);
    rig.add(2, ['a', 'b']);
    await rig.clock.advance(10);
    expect(rig.stored).toEqual([
      { name: 'b', lo: 1 },
      { name: 'c', lo: 1 },
    ]);
    expect([...rig.records.keys()]).toEqual([1, 2]);
  });

  it('keeps a copy whose pop is due until the pop cannot come by twice its gap any more', async () => {
    const rig = new Rig();
    await rig.clock.advance(1000);
    rig.add(1, ['b', 'c'], rig.clock.now() - 250);
    rig.add(2, ['b', 'c'], rig.clock.now() - 1);
    rig.add(3, ['b', 'c'], rig.clock.now() + 1000);
    await rig.clock.advance(100);
    expect([...rig.records.keys()]).toEqual([1, 2]);
    await rig.clock.advance(2000);
    expect([...rig.records.keys()]).toEqual([1, 2]);
    await rig.clock.advance(2000);
    expect([...rig.records.keys()]).toEqual([]);
  });

  it('leaves a silent replica to repair, however many records it should have, and gives the others theirs', async () => {
    const rig = new Rig();
    rig.silent.add('b');
    const count = 5000;
    for (let lo = 0; lo < count; lo++) rig.add(lo, ['b', 'a', 'c']);
    await rig.clock.advance(100);
    expect(rig.stored).toHaveLength(count);
    expect(rig.unconfirmed).toHaveLength(count);
    expect(rig.handOff.size).toBe(0);
  });

  it('keeps a copy that is not listed until the silent replica has its own', async () => {
    const rig = new Rig();
    rig.silent.add('b');
    rig.add(1, ['b', 'c']);
    await rig.clock.advance(5000);
    expect(rig.records.size).toBe(1);
    expect([rig.handOff.size, rig.handOff.moving]).toEqual([1, 0]);
    rig.silent.delete('b');
    await rig.clock.advance(5000);
    expect(rig.stored).toContainEqual({ name: 'b', lo: 1 });
    expect(rig.records.size).toBe(0);
    expect(rig.handOff.size).toBe(0);
  });

  it('of a member that leaves does not wait for a replica with a stand-in, which is told', async () => {
    const rig = new Rig();
    rig.silent.add('b').add('d');
    rig.abandoned.add('b');
    rig.add(1, ['b', 'c']);
    rig.add(2, ['b', 'd']);
    rig.add(3, ['d', 'c']);
    await rig.clock.advance(5000);
    expect([...rig.records.keys()]).toEqual([2, 3]);
    expect(rig.told).toEqual([{ name: 'c', names: ['b'] }]);
  });

  /**
   * The holder `a`, which is to give its copy away to `b`, and `b` with a copy of its own. `meanwhile`: comes to `a`
   * while the first offer is on its way.
   */
  async function given(own: TimerRecord, other: TimerRecord, meanwhile: TimerRecord = own) {
    const clock = new VirtualClock();
    const a = replicaOf({ clock, desired: () => ['b'] });
    const b = replicaOf({ self: 'b', clock, desired: () => ['b'] });
    a.receive(own, 'any', () => undefined);
    b.receive(other, 'any', () => undefined);
    const handle = createHandler({ replica: b } as HandlerParts);
    const handOff = new HandOff({
      self: 'a',
      clock,
      replica: a,
      peers: {
        silent: () => false,
        send: (_: string, message: Message, done: MessageAnswered) =>
          clock.soon(() => handle('a', message, (answer) => clock.soon(() => done(answer)))),
      } as unknown as Peers,
      busy: () => false,
      onUnconfirmed: () => undefined,
      leavesWithout: () => false,
      onDropped: () => undefined,
      onPushed: () => undefined,
    });
    handOff.add(own);
    a.receive(meanwhile, 'any', () => undefined);
    await clock.advance(10);
    return { own: a.get(own.hi, own.lo), other: b.get(own.hi, own.lo) };
  }

  const handed = recordOf({ versionMs: 1000, sequence: 5, replicas: ['b'] });

  it.each([
    ['an older version', { versionMs: 500, sequence: 9 }],
    ['an earlier pop', { sequence: 4 }],
    ['a list without the new holder', { replicas: ['a', 'c'] }],
    ['a time that is too late', { startMs: 100, dueMs: 10_100 }],
  ])('mends %s at the new holder before the own copy goes', async (_, fields) => {
    const { own, other } = await given(handed, { ...handed, ...fields });
    expect(own).toBeUndefined();
    expect(other).toMatchObject(handed);
  });

  it('takes a newer state over from the new holder, and does not undo it there', async () => {
    const newer = { ...handed, versionMs: 2000, sequence: 0 };
    const { own, other } = await given(handed, newer);
    expect(other).toMatchObject(newer);
    expect(own).toBeUndefined();
    // A holder that is listed too keeps the newer state.
    const both = { ...handed, replicas: ['b', 'a'] };
    expect((await given(both, { ...newer, replicas: ['b', 'a'] })).own).toMatchObject({
      versionMs: 2000,
      sequence: 0,
    });
  });

  it('keeps a state that is newer than the one with which the other holder answers', async () => {
    const both = { ...handed, replicas: ['b', 'a'] };
    const answered = { ...both, versionMs: 2000 };
    const { own } = await given(both, answered, { ...both, versionMs: 3000 });
    expect(own).toMatchObject({ versionMs: 3000 });
  });
});
