import { createHash } from 'node:crypto';
import { CarillonError, OpenNumbering, parseTimerId, type TimerId } from '@carillon/core';
import { describe, expect, it, vi } from 'vitest';
import { QuietMembers } from '../testing/quiet-members.ts';
import { definitionOf } from '../testing/records.ts';
import type { SetOutcome, SetRequest } from './service.ts';

function requestOf(fields: Partial<SetRequest> = {}): SetRequest {
  const definition = definitionOf({ opaque: 'first' });
  return {
    namespace: 'default',
    id: null,
    definition,
    factor: null,
    idempotencyKey: null,
    ...fields,
  };
}

function idIn(outcome: SetOutcome): TimerId {
  if (!outcome.ok) throw outcome.error;
  return parseTimerId(outcome.id) as TimerId;
}

function replaceOf(id: TimerId, opaque: string): SetRequest {
  return requestOf({ id, definition: definitionOf({ opaque }) });
}

/** The text of the definition, as each member reads it. */
async function texts(all: QuietMembers, id: TimerId): Promise<readonly (string | null)[]> {
  const views = await all.until(
    Promise.all(['a', 'b', 'c'].map((name) => all.of(name).coordinator.get('default', id))),
  );
  return views.map((view) => view?.definition.opaque ?? null);
}

describe('a new timer', () => {
  it('is on as many members as asked for, with one version, before the answer', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    const outcome = await all.until(all.of('a').sets.set(requestOf({ factor: 3 })));
    expect(outcome).toMatchObject({ ok: true, copies: { have: 3, wanted: 3 } });
    const held = Object.values(all.held(idIn(outcome)));
    expect(held).toHaveLength(3);
    expect(
      new Set(held.map(({ versionMs, versionTie }) => `${versionMs}.${versionTie}`)).size,
    ).toBe(1);
  });

  it('gets a stand-in for a replica that does not answer, and the answer says so', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    all.cutOff('c');
    const work = all.of('a').sets.set(requestOf({ factor: 3 }));
    await all.clock.advance(5000);
    const outcome = await work;
    expect(outcome).toMatchObject({ ok: true, copies: { have: 2, wanted: 3 } });
    all.heal('c');
    await all.clock.advance(10_000);
    expect(Object.keys(all.held(idIn(outcome)))).toEqual(['a', 'b', 'c']);
  });

  it('takes another number where its own is taken', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    const { changes, sets } = all.of('a');
    const taken = changes.newNumber('default');
    vi.spyOn(changes, 'newNumber').mockReturnValueOnce(taken).mockReturnValueOnce(taken);
    const first = idIn(await all.until(sets.set(requestOf())));
    const second = idIn(await all.until(sets.set(requestOf())));
    expect([first.hi, first.lo]).toEqual([taken.hi, taken.lo]);
    expect([second.hi, second.lo]).not.toEqual([taken.hi, taken.lo]);
  });

  it('is refused with the reason of the member', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    all.of('a').refusal = new CarillonError('disk_full', 'No room.');
    const outcome = await all.until(all.of('a').sets.set(requestOf()));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'disk_full' } });
    expect(all.of('a').metrics.sets.counted()).toMatchObject({ refused: 1 });
  });
});

describe('a timer that is replaced', () => {
  it('is the new one at every replica, whichever member was asked', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    const id = idIn(await all.until(all.of('a').sets.set(requestOf())));
    for (const [name, opaque] of [
      ['b', 'second'],
      ['c', 'third'],
      ['a', 'fourth'],
    ] as const) {
      await all.until(all.of(name).sets.set(replaceOf(id, opaque)));
      expect(await texts(all, id)).toEqual([opaque, opaque, opaque]);
    }
  });

  it('is the new one also when the member that is asked has a clock that is behind', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    all.clock.wallOffsetMs += 3_600_000;
    const id = idIn(await all.until(all.of('a').sets.set(requestOf())));
    all.clock.wallOffsetMs -= 3_600_000;
    const outcome = await all.until(all.of('b').sets.set(replaceOf(id, 'second')));
    expect(outcome.ok).toBe(true);
    expect(await texts(all, id)).toEqual(['second', 'second', 'second']);
  });

  it('of another namespace is not found by its number', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    const id = idIn(await all.until(all.of('a').sets.set(requestOf())));
    const same = { ...id, ...new OpenNumbering().outside('other', id) };
    const other = { ...replaceOf(same, 'second'), namespace: 'other' };
    const outcome = await all.until(all.of('b').sets.set(other));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'not_found' } });
    expect(await texts(all, id)).toEqual(['first', 'first', 'first']);
  });
});

describe('a timer under an idempotency key', () => {
  const keyed = requestOf({ idempotencyKey: 'k' });

  it('is one, whichever members are asked and however often', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    const both = await all.until(
      Promise.all([all.of('a').sets.set(keyed), all.of('b').sets.set(keyed)]),
    );
    const third = await all.until(all.of('c').sets.set(keyed));
    expect(new Set([...both, third].map((outcome) => idIn(outcome).lo)).size).toBe(1);
  });

  it('is confirmed in the state that it has come to', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    const first = await all.until(all.of('a').sets.set(keyed));
    const [record] = Object.values(all.held(idIn(first)));
    if (record === undefined) throw new Error('It is nowhere.');
    // One replica has popped it twice, and the others have not heard.
    all.of(record.replicas[1] ?? '').replica.write({ ...record, sequence: 2 });
    expect(await all.until(all.of('c').sets.set(keyed))).toMatchObject({ copies: { have: 2 } });
    const sequences = Object.values(all.held(record)).map(({ sequence }) => sequence);
    expect(sequences).toEqual([2, 2]);
  });

  it('has the number that its key gave in every release: the first eight bytes of a SHA-256', async () => {
    const all = await QuietMembers.start(['a']);
    for (const idempotencyKey of ['order 17', '"\\', 'k\n0', '~']) {
      const text = JSON.stringify(['default', idempotencyKey]);
      const digest = createHash('sha256').update(text).digest();
      const outcome = await all.until(all.of('a').sets.set(requestOf({ idempotencyKey })));
      const { hi, lo } = idIn(outcome);
      expect([hi, lo]).toEqual([digest.readUInt32LE(0), digest.readUInt32LE(4)]);
    }
  });

  it('is refused with another body', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    await all.until(all.of('a').sets.set(keyed));
    const other = { ...keyed, definition: definitionOf({ opaque: 'other' }) };
    const outcome = await all.until(all.of('b').sets.set(other));
    expect(outcome).toMatchObject({ ok: false, error: { code: 'key_reused' } });
  });

  it('is the same after a cancel, also through a replica that did not have the timer by then', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c']);
    const first = idIn(await all.until(all.of('a').sets.set(keyed)));
    const [record] = Object.values(all.held(first));
    if (record === undefined) throw new Error('It is nowhere.');
    const [, backup = ''] = record.replicas;
    all.of(backup).replica.drop(record);
    await all.until(all.of('a').coordinator.cancel('default', first));
    const outcome = await all.until(all.of(backup).sets.set(keyed));
    expect(idIn(outcome)).toMatchObject({ hi: first.hi, lo: first.lo });
  });

  it('is looked for at its replicas alone once the view has settled, and at all members before', async () => {
    const all = await QuietMembers.start(['a', 'b', 'c', 'd']);
    const { cluster, sets } = all.of('a');
    const { peers } = cluster;
    if (peers === null) throw new Error('It is alone.');
    const send = vi.spyOn(peers, 'send');
    const readsOf = async (idempotencyKey: string): Promise<ReadonlySet<string>> => {
      send.mockClear();
      await all.until(sets.set(requestOf({ idempotencyKey })));
      const reads = send.mock.calls.filter(([, message]) => message.type === 'read');
      return new Set(reads.map(([name]) => name));
    };
    expect(await readsOf('early')).toEqual(new Set(['b', 'c', 'd']));
    await all.clock.advance(10_000);
    const read = await readsOf('late');
    const id = idIn(await all.until(sets.set(requestOf({ idempotencyKey: 'late' }))));
    const replicas = Object.keys(all.held(id));
    expect(read).toEqual(new Set(replicas.filter((name) => name !== 'a')));
  });
});
