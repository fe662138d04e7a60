import { OpenNumbering, type TimerRecord } from '@carillon/core';
import { expect, it } from 'vitest';
import { View } from '../cluster/view/view.ts';
import type { Entry } from '../history/entry.ts';
import { startOne, timerBody } from '../testing/one-member.ts';
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
      replace: (record) => {
        if (!isTaken) return false;
        stored.push(record);
        return true;
      },
      sync: (done) => syncs.push(done),
    },
    ids: new ClientIds(new OpenNumbering(), () => view),
    historyLog: { note: (entry: Entry) => notes.push(entry) },
    instant: () => ({ nowMs: 0, wallMs: 1000 }),
  });
  const told: unknown[] = [];
  const outcomes: ChangeOutcome[] = [];
  const finish = (): void => alone.finish(outcomes, (counts) => told.push(counts));
  return { alone, stored, syncs, notes, outcomes, told, finish };
}

const record = (lo: number): TimerRecord => recordOf({ lo, replicas: ['a'], factor: 1 });

it('many timers are confirmed by one sync, each in its place, and not before', () => {
  const { alone, syncs, notes, outcomes, told, finish } = world();
  expect(alone.create(4, record(1), 'shop')).toBe(true);
  expect(alone.create(0, record(2), '')).toBe(true);
  finish();
  expect([syncs.length, outcomes.length, notes.length, told.length]).toEqual([1, 0, 0, 0]);
  syncs[0]?.(true);
  expect(Object.keys(outcomes)).toEqual(['0', '4']);
  expect(outcomes[4]).toMatchObject({ ok: true, copies: { have: 1, wanted: 1 } });
  expect(notes).toMatchObject([
    { kind: 'change', action: 'set', lo: 1, actor: 'shop' },
    { kind: 'change', action: 'set', lo: 2, actor: '' },
  ]);
  expect(told).toEqual([{ created: 2, replaced: 0, refused: 0 }]);
});

it('after a failed sync all of them are refused, and the history tells of none', () => {
  const { alone, syncs, notes, outcomes, told, finish } = world();
  alone.create(0, record(1), '');
  finish();
  syncs[0]?.(false);
  expect(outcomes).toMatchObject([{ ok: false, error: { code: 'disk_full' } }]);
  expect([notes, told]).toEqual([[], [{ created: 0, replaced: 0, refused: 1 }]]);
});

it('a number that is taken is left to the usual way; without any there is no sync', () => {
  const { alone, stored, syncs, told, finish } = world(true);
  expect(alone.create(0, record(1), '')).toBe(false);
  finish();
  expect([stored, syncs, told]).toEqual([[], [], [{ created: 0, replaced: 0, refused: 0 }]]);
});

it('timers that are replaced share the sync, and count and are noted as replaced', () => {
  const { alone, stored, syncs, notes, outcomes, told, finish } = world(true);
  expect(alone.replace(1, record(7), 'shop')).toBe(true);
  finish();
  expect([stored.length, syncs.length, outcomes.length]).toEqual([1, 1, 0]);
  syncs[0]?.(true);
  expect(outcomes[1]).toMatchObject({ ok: true, copies: { have: 1, wanted: 1 } });
  expect(notes).toMatchObject([{ kind: 'change', action: 'replace', lo: 7, actor: 'shop' }]);
  expect(told).toEqual([{ created: 0, replaced: 1, refused: 0 }]);
});

it('a timer that cannot be replaced here is left to the usual way', () => {
  const { alone, stored, syncs, finish } = world();
  expect(alone.replace(0, record(1), '')).toBe(false);
  finish();
  expect([stored, syncs]).toEqual([[], []]);
});

it.each([
  ['an interval', timerBody(9, { opaque: 'later' })],
  ['a cron', { ...timerBody(1), timing: { cron: '0 0 * * *', forever: true } }],
  ['an instant', { ...timerBody(1), timing: { at: '1970-01-01T01:00:00Z' } }],
  ['its own factor', { ...timerBody(9), reliability: { 'replication-factor': 1 } }],
  ['another factor', { ...timerBody(9), reliability: { 'replication-factor': 2 } }],
  ['no uri', { timing: { interval: 1 }, callback: { http: {} } }],
])(
  'a replace in a batch by %s gives the same timer and the same error as one by itself',
  async (_, timer) => {
    const id = `${'0'.repeat(15)}7-1`;
    const after = async (isBatch: boolean): Promise<unknown[]> => {
      const one = await startOne();
      await one.request('PUT', `/timers/${id}`, timerBody(5));
      const answer = isBatch
        ? await one.request('POST', '/timers/batch', [{ change: 'replace', id, timer }])
        : await one.request('PUT', `/timers/${id}`, timer);
      const { body } = await one.request('GET', `/timers/${id}`);
      await one.stop();
      const told = JSON.parse(answer.body || '{}') as unknown;
      const {
        status = answer.status,
        detail,
        pointer,
      } = (isBatch ? (told as [Told])[0] : told) as Told;
      return [status, detail, pointer?.replace('/timer/', '/'), JSON.parse(body)];
    };
    expect(await after(true)).toEqual(await after(false));
  },
);

interface Told {
  readonly status?: number;
  readonly detail?: string;
  readonly pointer?: string;
}
