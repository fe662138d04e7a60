import { State, type TimerRecord } from '@carillon/core';
import { describe, expect, it } from 'vitest';
import { memberOf, QuietMembers } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';

const names = ['a', 'b', 'c'];

/** A record at both of its replicas; `third` is the member without it. */
async function withRecord(fields: Partial<TimerRecord> = {}) {
  const all = await QuietMembers.start(names);
  const replicas = all.of('a').cluster.view.place(1, 2, 2);
  const [primary, backup] = replicas as readonly [string, string];
  const third = names.find((name) => !replicas.includes(name)) as string;
  const record = recordOf({ sequence: 5, replicas, ...fields });
  for (const name of replicas) all.of(name).replica.receive(record, 'any', () => undefined);
  return { all, record, primary, backup, third };
}

describe('a record belongs', () => {
  it('where the view places it, and to a stand-in once a replica has been silent for 30 s', async () => {
    const { all, record, primary, backup, third } = await withRecord();
    const { cluster } = all.of(primary);
    expect(cluster.holders.desired(record)).toEqual([primary, backup]);
    all.cutOff(backup);
    await all.clock.advance(40_000);
    expect(cluster.holders.desired(record)).toEqual([primary, backup, third]);
    expect(Object.keys(all.held(record))).toContain(third);
    all.heal(backup);
    await all.clock.advance(5000);
    expect(cluster.holders.desired(record)).toEqual([primary, backup]);
  });
});

describe('a new state of a record', () => {
  it('reaches the other replica, and never replaces a newer one', async () => {
    const { all, record, primary, backup } = await withRecord();
    all.of(primary).cluster.news.tell({ ...record, sequence: 6 });
    await all.clock.advance(10);
    expect(all.held(record)[backup]?.sequence).toBe(6);
    all.of(primary).cluster.news.tell({ ...record, sequence: 4 });
    all.of(primary).cluster.news.tell({ ...record, versionMs: 900, sequence: 9 });
    await all.clock.advance(10);
    expect(all.held(record)[backup]).toMatchObject({ versionMs: 1000, sequence: 6 });
  });

  it('that is older than that of the other replica makes the member ask for the newer one', async () => {
    const { all, record, primary, backup } = await withRecord();
    const { cluster, replica } = all.of(primary);
    // The first comparison of all members is over, and the next one a minute away.
    await all.clock.advance(6000);
    all.of(backup).replica.write({ ...record, versionMs: 2000, state: State.tombstone });
    replica.write({ ...record, sequence: 6 });
    cluster.news.tell({ ...record, sequence: 6 });
    await all.clock.advance(6000);
    expect(all.held(record)[primary]).toMatchObject({ versionMs: 2000, state: State.tombstone });
    expect(cluster.report.describe().repair.unconfirmedRecords).toBe(0);
  });

  it('that a silent replica has not confirmed is sent when it answers again', async () => {
    const { all, record, primary, backup } = await withRecord();
    all.cutOff(backup);
    const popped = { ...record, sequence: 6 };
    all.of(primary).replica.write(popped);
    all.of(primary).cluster.news.tell(popped);
    await all.clock.advance(6000);
    expect(all.held(record)[backup]?.sequence).toBe(5);
    expect(all.of(primary).cluster.report.describe().repair.unconfirmedRecords).toBe(1);
    all.heal(backup);
    await all.clock.advance(6000);
    expect(all.held(record)[backup]?.sequence).toBe(6);
    expect(all.of(primary).cluster.report.describe().repair.unconfirmedRecords).toBe(0);
  });

  it('that no message brought is found by the comparison of the two members, and the newer state wins', async () => {
    const { all, record, primary, backup } = await withRecord();
    all.of(backup).replica.write({ ...record, sequence: 8 });
    all.of(primary).replica.write({ ...record, sequence: 7 });
    await all.clock.advance(90_000);
    const sequences = Object.values(all.held(record)).map(({ sequence }) => sequence);
    expect(sequences).toEqual([8, 8]);
  });
});

describe('a list that is not the view’s', () => {
  it('is put right after 5 s at each holder, and a copy that is not listed goes', async () => {
    const { all, record, primary, backup, third } = await withRecord();
    const strayed = { ...record, sequence: 6, replicas: [third, primary] };
    for (const name of names) all.of(name).replica.receive(strayed, 'any', () => undefined);
    expect(all.held(record)[backup]?.replicas).toEqual([third, primary]);
    await all.clock.advance(10_000);
    const held = all.held(record);
    expect(Object.keys(held).toSorted()).toEqual([primary, backup].toSorted());
    for (const kept of Object.values(held)) {
      expect(kept).toMatchObject({ sequence: 6, replicas: [primary, backup] });
    }
  });
});

describe('a copy at a member that the list does not name', () => {
  it('stays while a replica is silent, though others stand in, unless that member leaves', async () => {
    const all = await QuietMembers.start([...names, 'd']);
    const placed = all.of('a').cluster.view.place(1, 2, 4) as [string, string, string, string];
    const [primary, backup, , last] = placed;
    const record = recordOf({ replicas: [primary, backup] });
    all.cutOff(backup);
    all.of(primary).replica.receive(record, 'any', () => undefined);
    all.of(last).replica.receive(record, 'any', () => undefined);
    await all.clock.advance(90_000);
    expect(Object.keys(all.held(record)).toSorted()).toEqual(
      placed.filter((name) => name !== backup).toSorted(),
    );
    all.heal(backup);
    await all.clock.advance(10_000);
    expect(Object.keys(all.held(record)).toSorted()).toEqual([primary, backup].toSorted());
  });
});

describe('the end', () => {
  it('of a dead letter is a tombstone at every replica', async () => {
    const { all, record, primary } = await withRecord({ state: State.dead });
    all.of(primary).cluster.news.end(record);
    await all.clock.advance(10);
    const states = Object.values(all.held(record)).map(({ state }) => state);
    expect(states).toEqual([State.tombstone, State.tombstone]);
  });

  it('of a tombstone takes the record away only where no replica has an older state', async () => {
    const { all, record, primary, backup } = await withRecord();
    const tombstone = { ...record, state: State.tombstone };
    all.of(primary).replica.receive(tombstone, 'any', () => undefined);
    all.of(primary).cluster.news.end(tombstone);
    await all.clock.advance(10);
    // The other replica was live: it has the tombstone now, which ends in its own time.
    expect(Object.keys(all.held(record))).toEqual([backup]);
    expect(all.held(record)[backup]?.state).toBe(State.tombstone);
  });
});

describe('a view', () => {
  it('has a member that leaves as leaving before it gives its records away', async () => {
    const { all, record, primary, backup } = await withRecord();
    await all.clock.advance(500);
    all.of(primary).cluster.membership.leave();
    await all.clock.advance(5);
    expect(all.of(backup).cluster.view.member(primary)?.phase).toBe('leaving');
    expect(all.held(record)[backup]?.replicas).not.toContain(primary);
  });

  it('moves all records away from a member that leaves', async () => {
    const { all, record, primary, third } = await withRecord();
    const { cluster } = all.of(primary);
    expect(cluster.remaining).toBe(1);
    cluster.membership.leave();
    await all.clock.advance(5000);
    expect(cluster.remaining).toBe(0);
    expect(all.held(record)[third]).toMatchObject({ sequence: 5 });
    const phases = all
      .of(third)
      .cluster.report.describe()
      .members.map(({ phase }) => phase);
    expect(phases).toContain('leaving');
  });

  it('that two members do not share is noticed by both', async () => {
    const { all } = await withRecord();
    expect(all.of('a').cluster.state.viewsDiffer).toBe(false);
    const spec = { source: 'static', revision: 9, members: ['a', 'b'].map((n) => memberOf(n)) };
    all.of('a').cluster.membership.apply(spec);
    await all.clock.advance(2000);
    expect(all.of('a').cluster.state.viewsDiffer).toBe(true);
    expect(all.of('b').cluster.state.viewsDiffer).toBe(true);
  });
});

it('a member whose records are on their way says so in its hello, until they have arrived', async () => {
  const all = await QuietMembers.start(names);
  await all.clock.advance(10_000);
  const { cluster, replica } = all.of('a');
  expect(cluster.state.isUnsettled).toBe(false);
  const [primary = '', backup = ''] = cluster.view.place(1, 2, 2);
  replica.receive(recordOf({ replicas: [backup, primary] }), 'any', () => undefined);
  expect([cluster.state.isUnsettled, cluster.report.hello().moving]).toEqual([true, true]);
  await all.clock.advance(10_000);
  expect(cluster.report.hello().moving).toBe(false);
});

it('records may be anywhere for 5 s after all members have learned of a new view', async () => {
  const all = await QuietMembers.start(names);
  await all.clock.advance(10_000);
  all.show(['a', 'b'].map((name) => memberOf(name)));
  await all.clock.advance(4900);
  expect(all.of('a').cluster.state.isUnsettled).toBe(true);
  await all.clock.advance(200);
  expect(all.of('a').cluster.state.isUnsettled).toBe(false);
});
