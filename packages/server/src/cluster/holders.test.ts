import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import type { Replica } from '../replication/replica.ts';
import { memberOf } from '../testing/quiet-members.ts';
import { recordOf } from '../testing/records.ts';
import { Holders, type HoldersParts } from './holders.ts';
import type { Repair } from './repair.ts';
import { Rejoining } from './view/rejoining.ts';
import { View } from './view/view.ts';

const names = ['m0', 'm1', 'm2', 'm3', 'm4'];

function viewOf(source: string, inView = names): View {
  return new View({ source, revision: 1, members: inView.map((name) => memberOf(name)) });
}

/** The members in the order of their ranks for the number of `record`: the first two are its replicas. */
const ranks = viewOf('static').place(1, 2, 5) as [string, string, string, string, string];
const [self, backup, next] = ranks;
const record = recordOf({ replicas: [self, backup] });

/** The primary's; `presence` and `doubts` tell of other members and of records in doubt. */
function holdersOf(
  parts: Partial<HoldersParts> = {},
  repair: object | null = { presence: { absent: () => false } },
): Holders {
  return new Holders({
    self,
    isAlone: false,
    membership: { view: viewOf('static') },
    state: { viewsDiffer: false, isViewShared: true },
    rejoining: new Rejoining(new VirtualClock()),
    replica: () => null,
    repair: () => repair as Repair | null,
    ...parts,
  });
}

test.each<[string, readonly string[], readonly string[]]>([
  ['all answer', [], [self, backup]],
  ['a replica is absent', [backup], [self, backup, next]],
  ['another member is absent', [next], [self, backup]],
])('a record belongs to its replicas and stand-ins for them; %s', (_, absent, expected) => {
  const presence = { absent: (name: string) => absent.includes(name) };
  expect(holdersOf({}, { presence }).desired(record)).toEqual(expected);
});

test('a record belongs to its replicas where the member is alone, or not started yet', () => {
  expect(holdersOf({}, null).desired(record)).toEqual([self, backup]);
});

test.each<[string, readonly string[], readonly string[]]>([
  ['its replicas', [self, backup], [backup]],
  ['a member that the view would not choose', [next, self], [next, backup]],
  ['a name that the view does not know', ['gone', self], [backup]],
])('the others of a record whose list names %s', (_, replicas, expected) => {
  expect(holdersOf().othersOf({ ...record, replicas })).toEqual(expected);
});

test('a member that is alone knows of no others, whatever a list names', () => {
  expect(holdersOf({ isAlone: true }).othersOf(record)).toEqual([]);
});

const others = names.filter((name) => name !== self);

interface Asking extends Partial<HoldersParts> {
  readonly replicas?: readonly string[];
  readonly widely?: boolean;
}

const differ = { viewsDiffer: true, isViewShared: false };

test.each<[string, Asking, readonly string[]]>([
  ['the list is right: its other replicas', {}, [backup]],
  ['the list has a stand-in too: all of it', { replicas: ranks.slice(0, 3) }, [backup, next]],
  ['the pop fell due long ago: all others', { widely: true }, others],
  ['views differ: all others', { state: differ }, others],
  ['this member is not listed: all others', { self: next }, names.filter((n) => n !== next)],
  ['the list is of another view: all others', { replicas: [self, next] }, others],
  ['alone: no member', { isAlone: true, state: differ, widely: true }, []],
])('asked before a pop; %s', (_, asking, expected) => {
  const { replicas = record.replicas, widely = false, ...parts } = asking;
  const asked = holdersOf(parts).askedOf({ ...record, replicas }, widely);
  expect(asked.toSorted()).toEqual(expected.toSorted());
});

interface Due {
  readonly slept?: boolean;
  readonly stale?: boolean;
  /** Whether all other members have been heard since the start; null: alone. */
  readonly acquainted?: boolean | null;
  /** Whether the others have told that they go by the same view. */
  readonly isViewShared?: boolean;
  /** Milliseconds since the start. */
  readonly startedMs?: number;
  readonly doubts?: boolean;
  /** A view from etcd that shows no other member yet. */
  readonly isShort?: boolean;
}

test.each<[string, Due, boolean]>([
  ['goes on', {}, false],
  ['waits if it slept and a member was not heard yet', { slept: true, acquainted: false }, true],
  ['goes on if it slept and all were heard', { slept: true }, false],
  ['goes on if it has not slept', { acquainted: false }, false],
  ['waits if it slept and members may be missing', { slept: true, isViewShared: false }, true],
  ['goes on if it has not slept and members may be missing', { isViewShared: false }, false],
  [
    'goes on if it slept and no more members are to be expected',
    { slept: true, isViewShared: false, startedMs: 2500 },
    false,
  ],
  [
    'goes on if it slept, and the member is alone',
    { slept: true, acquainted: null, isViewShared: false },
    false,
  ],
  ['waits if it is stale and a replica is not shown yet', { stale: true, isShort: true }, true],
  ['goes on if it is not stale', { isShort: true }, false],
  ['goes on if it is stale and its replicas are shown', { stale: true }, false],
  ['waits if its record is in doubt', { doubts: true }, true],
])('a due pop %s', async (_, due, expected) => {
  const { slept = false, stale = false, acquainted = true, doubts = false } = due;
  const clock = new VirtualClock();
  const rejoining = new Rejoining(clock);
  rejoining.start();
  await clock.advance(due.startedMs ?? 0);
  const view = viewOf('etcd', due.isShort === true ? [self] : names);
  const store = { replicasOf: () => record.replicas };
  const state = { viewsDiffer: false, isViewShared: due.isViewShared ?? true };
  const holders = holdersOf(
    {
      rejoining,
      state,
      isAlone: acquainted === null,
      membership: { view },
      replica: () => ({ store }) as unknown as Replica,
    },
    acquainted === null ? null : { presence: { acquainted }, doubts: () => doubts },
  );
  expect(holders.popWaits(7, slept, stale)).toBe(expected);
});
