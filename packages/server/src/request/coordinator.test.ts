import { OpenNumbering, parseTimerId, State, type TimerId, type TimerRecord } from '@carillon/core';
import { describe, expect, it } from 'vitest';
import { QuietMembers } from '../testing/quiet-members.ts';
import { definitionOf, recordOf } from '../testing/records.ts';

const names = ['a', 'b', 'c'];

/** A timer with the tag `t`, set through member `a`. */
async function withTimer() {
  const all = await QuietMembers.start(names);
  const request = {
    namespace: 'default',
    id: null,
    definition: definitionOf({ tags: ['t'] }),
    factor: 2,
    idempotencyKey: null,
  };
  const outcome = await all.until(all.of('a').sets.set(request));
  if (!outcome.ok) throw outcome.error;
  return { all, id: parseTimerId(outcome.id) as TimerId, version: outcome.version };
}

function statesOf(all: QuietMembers, id: TimerId): readonly State[] {
  return Object.values(all.held(id)).map(({ state }) => state);
}

describe('a cancel', () => {
  it('ends the timer at every replica, through any member, and the timer is not found any more', async () => {
    const { all, id, version } = await withTimer();
    const changed = await all.until(all.of('c').coordinator.cancel('default', id));
    expect(changed.copies).toEqual({ have: 2, wanted: 2 });
    expect(changed.version.versionMs).toBeGreaterThanOrEqual(version.versionMs);
    expect(statesOf(all, id)).toEqual([State.tombstone, State.tombstone]);
    expect(await all.until(all.of('b').coordinator.get('default', id))).toBeNull();
  });

  it('is not undone by an earlier state that comes late', async () => {
    const { all, id } = await withTimer();
    const [late] = Object.values(all.held(id)) as [TimerRecord];
    await all.until(all.of('b').coordinator.cancel('default', id));
    for (const name of late.replicas) {
      all.of(name).replica.receive({ ...late, sequence: 7 }, 'any', () => undefined);
    }
    expect(statesOf(all, id)).toEqual([State.tombstone, State.tombstone]);
  });

  it('by another namespace succeeds and changes nothing', async () => {
    const { all, id } = await withTimer();
    const same = { ...id, ...new OpenNumbering().outside('other', id) };
    const { copies } = await all.until(all.of('a').coordinator.cancel('other', same));
    expect(copies).toEqual({ have: 2, wanted: 2 });
    expect(statesOf(all, id)).toEqual([State.live, State.live]);
  });

  it('by tag ends all timers of the namespace with the tag, and no other', async () => {
    const { all, id } = await withTimer();
    const other = await all.until(all.of('a').coordinator.cancelByTag('other', 't'));
    expect([other.count, statesOf(all, id)]).toEqual([0, [State.live, State.live]]);
    const own = await all.until(all.of('b').coordinator.cancelByTag('default', 't'));
    expect([own.count, statesOf(all, id)]).toEqual([1, [State.tombstone, State.tombstone]]);
  });
});

it('a read gives the newest state that any replica has', async () => {
  const { all, id } = await withTimer();
  const [held] = Object.values(all.held(id)) as [TimerRecord];
  all.of(held.replicas[1] ?? '').replica.write({ ...held, sequence: 4 });
  for (const name of names) {
    const view = await all.until(all.of(name).coordinator.get('default', id));
    expect(view?.sequence).toBe(4);
  }
});

describe('a dead letter', () => {
  /** A letter that member `a` has put where its number belongs. */
  async function withLetter() {
    const all = await QuietMembers.start(names);
    const letter = recordOf({ state: State.dead, versionMs: 1000, replicas: [] });
    const kept: boolean[] = [];
    all.of('a').changes.keep(letter, (ok) => kept.push(ok));
    await all.clock.advance(100);
    expect(kept).toEqual([true]);
    const [{ replicas }] = Object.values(all.held(letter)) as [TimerRecord];
    expect(replicas).toEqual(all.of('a').cluster.view.place(letter.hi, letter.lo, 2));
    const { hi, lo, factor } = letter;
    return { all, id: { hi, lo, factor, bloomHi: 0, bloomLo: 0 } };
  }

  it('that is kept again by another replica is the same one', async () => {
    const { all, id } = await withLetter();
    const again: boolean[] = [];
    const letter = recordOf({ state: State.dead, versionMs: 1000, replicas: [] });
    all.of('b').changes.keep(letter, (ok) => again.push(ok));
    await all.clock.advance(100);
    expect([again, statesOf(all, id)]).toEqual([[true], [State.dead, State.dead]]);
  });

  it('is kept by the member that made it where no other answers', async () => {
    const all = await QuietMembers.start(names);
    for (const name of names) all.cutOff(name);
    const letter = recordOf({ state: State.dead, replicas: [] });
    const placed = all.of('a').cluster.view.place(letter.hi, letter.lo, 2);
    const maker = names.find((name) => !placed.includes(name)) as string;
    const kept: boolean[] = [];
    all.of(maker).changes.keep(letter, (ok) => kept.push(ok));
    await all.clock.advance(20_000);
    expect([kept, Object.keys(all.held(letter))]).toEqual([[true], [maker]]);
  });

  it('is live again once it is sent, and a second request for the same letter gets the same record', async () => {
    const { all, id } = await withLetter();
    const both = await all.until(
      Promise.all([
        all.of('a').coordinator.redeliver('default', id),
        all.of('c').coordinator.redeliver('default', id),
      ]),
    );
    expect(both[0]).toMatchObject({ versionMs: both[1]?.versionMs });
    expect(statesOf(all, id)).toEqual([State.live, State.live]);
    expect(await all.until(all.of('b').coordinator.redeliver('default', id))).toBeNull();
  });

  it('that was discarded is not sent any more', async () => {
    const { all, id } = await withLetter();
    expect(await all.until(all.of('b').coordinator.discard('default', id))).not.toBeNull();
    expect(statesOf(all, id)).toEqual([State.tombstone, State.tombstone]);
    expect(await all.until(all.of('a').coordinator.redeliver('default', id))).toBeNull();
  });
});

describe('a version that a client has seen', () => {
  it('is below every later change through this member', async () => {
    const { all, id, version } = await withTimer();
    const seen = { versionMs: version.versionMs + 60_000, versionTie: 5 };
    all.of('b').coordinator.saw(seen);
    const { version: later } = await all.until(all.of('b').coordinator.cancel('default', id));
    expect(later.versionMs).toBeGreaterThanOrEqual(seen.versionMs);
  });

  it('is refused more than a day ahead of the clock', async () => {
    const { all, version } = await withTimer();
    const seen = { versionMs: version.versionMs + 2 * 86_400_000, versionTie: 0 };
    expect(() => all.of('b').coordinator.saw(seen)).toThrow('a day ahead');
  });
});
