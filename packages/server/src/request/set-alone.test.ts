import { openNumbering, type TimerRecord } from '@carillon/core';
import { expect, it } from 'vitest';
import { View } from '../cluster/view/view.ts';
import type { Entry } from '../history/entry.ts';
import { recordOf } from '../testing/records.ts';
import { ClientIds } from './client-ids.ts';
import type { ChangeOutcome } from './service.ts';
import { SetsAlone } from './set-alone.ts';

const view = new View({
  source: 'test',
  revision: 1,
  members: [{ name: 'a', address: 'a', peer: 'a', phase: 'active', weight: 1, labels: {} }],
});

function world(isTaken = false) {
  const stored: TimerRecord[] = [];
  const syncs: ((ok: boolean) => void)[] = [];
  const notes: Entry[] = [];
  const alone = new SetsAlone({
    replica: {
      create: (record) => {
        if (isTaken) return 'taken';
        stored.push(record);
        return 'stored';
      },
      sync: (done) => syncs.push(done),
    },
    ids: new ClientIds(openNumbering, () => view),
    historyLog: { note: (entry: Entry) => notes.push(entry) },
    instant: () => ({ nowMs: 0, wallMs: 1000 }),
  });
  const told: unknown[] = [];
  const outcomes: ChangeOutcome[] = [];
  const finish = (): void => alone.finish(outcomes, (...counts) => told.push(counts));
  return { alone, stored, syncs, notes, outcomes, told, finish };
}

const record = (lo: number): TimerRecord => recordOf({ lo, replicas: ['a'], factor: 1 });

it('many timers are confirmed by one sync, each in its place, and not before', () => {
  const { alone, syncs, notes, outcomes, told, finish } = world();
  expect([alone.add(4, record(1), 'shop'), alone.add(0, record(2), '')]).toEqual([true, true]);
  finish();
  expect([syncs.length, outcomes.length, notes.length, told.length]).toEqual([1, 0, 0, 0]);
  syncs[0]?.(true);
  expect(Object.keys(outcomes)).toEqual(['0', '4']);
  expect(outcomes[4]).toMatchObject({ ok: true, copies: { have: 1, wanted: 1 } });
  expect(notes).toMatchObject([
    { kind: 'change', action: 'set', lo: 1, actor: 'shop' },
    { kind: 'change', action: 'set', lo: 2, actor: '' },
  ]);
  expect(told).toEqual([[2, 0]]);
});

it('after a failed sync all of them are refused, and the history tells of none', () => {
  const { alone, syncs, notes, outcomes, told, finish } = world();
  alone.add(0, record(1), '');
  finish();
  syncs[0]?.(false);
  expect(outcomes).toMatchObject([{ ok: false, error: { code: 'disk_full' } }]);
  expect([notes, told]).toEqual([[], [[0, 1]]]);
});

it('a number that is taken is left to the usual way; without any there is no sync', () => {
  const { alone, stored, syncs, told, finish } = world(true);
  expect(alone.add(0, record(1), '')).toBe(false);
  finish();
  expect([stored, syncs, told]).toEqual([[], [], [[0, 0]]]);
});
