import type { TimerId, TimerRecord } from '@carillon/core';
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
