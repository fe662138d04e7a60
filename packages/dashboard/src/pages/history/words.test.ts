import { expect, test } from 'vitest';
import type { HistoryChangeShape } from '../../parts/shapes.ts';
import { auditRows, titleOfEntry } from './words.ts';

function change(part: Partial<HistoryChangeShape>): HistoryChangeShape {
  return {
    kind: 'change',
    at: '2026-11-17T09:00:00.000Z',
    timer: '66ddb6aa0024f001',
    member: 'n0',
    action: 'set',
    actor: null,
    tag: null,
    pop: null,
    ...part,
  };
}

test('neighbours of one request by tag, and changes of pops, are one row', () => {
  const byTag = { action: 'cancel', actor: 'night-shift', tag: 'old' };
  const rows = auditRows([
    change({ action: 'give-up', pop: 1 }),
    change({ action: 'give-up', pop: 2, member: 'n1' }),
    change({ action: 'give-up', pop: 3 }),
    change({ ...byTag }),
    change({ ...byTag }),
    change({ ...byTag, actor: 'day-shift' }),
    change({ action: 'set', actor: 'shop' }),
    change({ action: 'set', actor: 'shop' }),
    change({ action: 'give-up', pop: 4 }),
    change({ action: 'redeliver', actor: 'night-shift', pop: 1 }),
    change({ action: 'redeliver', actor: 'night-shift', pop: 2 }),
    change({ action: 'redeliver', actor: 'day-shift', pop: 3 }),
  ]);
  expect(rows.map(({ first, count, members }) => [first.action, count, members.join()])).toEqual([
    ['give-up', 3, 'n0,n1'],
    ['cancel', 2, 'n0'],
    ['cancel', 1, 'n0'],
    ['set', 1, 'n0'],
    ['set', 1, 'n0'],
    ['give-up', 1, 'n0'],
    ['redeliver', 2, 'n0'],
    ['redeliver', 1, 'n0'],
  ]);
});

test('a filter by the kind of change shows each change of a pop', () => {
  const drop = change({ action: 'discard', actor: 'night-shift', pop: 1 });
  expect(auditRows([drop, drop], true)).toHaveLength(2);
  const byTag = change({ action: 'cancel', tag: 'old' });
  expect(auditRows([byTag, byTag], true)).toHaveLength(1);
});

test('the title of a change names the pop that it is about', () => {
  expect(titleOfEntry(change({ action: 'redeliver', pop: 3 }))).toBe(
    'Dead letter of pop 3 sent again',
  );
  expect(titleOfEntry(change({ action: 'give-up', pop: 3 }))).toBe(
    'Given up: a dead letter of pop 3',
  );
  expect(titleOfEntry(change({ action: 'drain' }))).toBe('Member told to drain');
});
