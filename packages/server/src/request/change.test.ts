import { State, type TimerId, type TimerRecord, type Version } from '@carillon/core';
import { describe, expect, it, vi } from 'vitest';
import { QuietMembers } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';

const names = ['a', 'b', 'c', 'd'];
const id: TimerId = { hi: 1, lo: 2, factor: 1, bloomHi: 0, bloomLo: 0 };

/** Four members, the replica that their view names for a timer of one copy, and two others. */
async function members(): Promise<{ all: QuietMembers; placed: string; others: string[] }> {
  const all = await QuietMembers.start(names);
  const [placed = ''] = all.of('a').cluster.view.place(1, 2, 1);
  return { all, placed, others: names.filter((name) => name !== placed) };
}

function hold(all: QuietMembers, name: string, replicas: readonly string[]): TimerRecord {
  const record = recordOf({ factor: 1, replicas });
  all.of(name).replica.receive(record, 'any', () => undefined);
  return record;
}

describe('a timer that is not with its replica', () => {
  it('is found where the replica knows that records are on their way, though the member that asks does not', async () => {
    const { all, placed, others } = await members();
    const [holder = '', asker = ''] = others;
    await all.clock.advance(10_000);
    hold(all, holder, [holder]);
    const hello = all.of(holder).cluster.report.hello();
    all.of(placed).cluster.heardHello(holder, { ...hello, moving: true });
    expect(all.of(asker).cluster.state.isUnsettled).toBe(false);
    expect(await all.until(all.of(asker).changes.read(id))).toMatchObject({ hi: 1, lo: 2 });
  });

  it('is found when it comes to the replica while the other members are asked', async () => {
    const { all, placed, others } = await members();
    const [asker = ''] = others;
    hold(all, placed, [placed]);
    const get = vi.spyOn(all.of(placed).replica, 'get');
    get.mockReturnValueOnce(undefined).mockReturnValueOnce(undefined);
    expect(await all.until(all.of(asker).changes.read(id))).toMatchObject({ hi: 1, lo: 2 });
  });
});

describe('a change', () => {
  /** A record of the change as the member would write it: the end of the timer. */
  const endBy =
    (all: QuietMembers, name: string) =>
    (version: Version): TimerRecord => {
      const { changes, cluster } = all.of(name);
      const at = cluster.state.instant();
      const base = { namespace: 'default', factor: 1, number: id, version, at };
      return { ...changes.draft(base), state: State.tombstone };
    };

  it('that meets a newer version is made again, above that version', async () => {
    const { all, placed, others } = await members();
    const [asked = ''] = others;
    const newer = recordOf({ factor: 1, replicas: [placed], versionMs: all.clock.wall() + 5000 });
    all.of(placed).replica.receive(newer, 'any', () => undefined);
    const { record } = await all.until(all.of(asked).changes.change(endBy(all, asked), id));
    expect(record.versionMs).toBeGreaterThanOrEqual(newer.versionMs);
    const { versionMs, versionTie } = record;
    const ended = { state: State.tombstone, versionMs, versionTie };
    expect(all.held(id)).toMatchObject({ [placed]: ended });
  });

  it('that meets a newer version each time is given up after eight tries, as not confirmed', async () => {
    const { all, placed, others } = await members();
    const [asked = ''] = others;
    const end = endBy(all, asked);
    let tries = 0;
    const beaten = (version: Version): TimerRecord => {
      tries++;
      const versionMs = version.versionMs + 5000;
      const newer = recordOf({ factor: 1, replicas: [placed], versionMs });
      all.of(placed).replica.receive(newer, 'any', () => undefined);
      return end(version);
    };
    const change = all.of(asked).changes.change(beaten, id);
    await expect(all.until(change)).rejects.toMatchObject({ code: 'no_copies' });
    expect(tries).toBe(8);
    expect(all.held(id)[placed]?.state).toBe(State.live);
  });

  it('leaves no live copy at a member that the id names as a former holder', async () => {
    const { all, placed, others } = await members();
    const [asked = '', former = ''] = others;
    hold(all, former, [former]);
    const bloom = all.of(asked).cluster.view.bloomOf([former]);
    const named = { ...id, bloomHi: bloom.hi, bloomLo: bloom.lo };
    await all.until(all.of(asked).changes.change(endBy(all, asked), named));
    const states = Object.entries(all.held(id)).map(([name, { state }]) => [name, state]);
    expect(states).toEqual([[placed, State.tombstone]]);
  });

  it('that cannot be made throws its error, and leaves the next change of the timer alone', async () => {
    const { all, placed, others } = await members();
    const [asked = ''] = others;
    const { changes } = all.of(asked);
    const fault = new Error('no such definition');
    const fails = (): never => {
      throw fault;
    };
    await expect(all.until(changes.change(fails, id))).rejects.toBe(fault);
    await all.until(changes.change(endBy(all, asked), id));
    expect(all.held(id)[placed]?.state).toBe(State.tombstone);
  });
});
