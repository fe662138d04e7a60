import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Store } from '../store/store.ts';
import { anything, recordOf } from '../testing/records.ts';
import { listHere, type ReadParts } from './read.ts';
import type { Replica } from './replica.ts';
import type { HolderRole } from './wire/list.ts';

const holders = [['a', 'b'], ['b', 'a'], ['b', 'c'], ['c']];

function parts(): ReadParts {
  const store = new Store();
  holders.forEach((replicas, lo) => {
    store.put(recordOf({ hi: 0, lo, replicas }));
  });
  const replica = { store } as Replica;
  return { self: 'a', clock: new VirtualClock(), peers: null, replica };
}

test.each<[string, HolderRole, number[]]>([
  ['', '', [0, 1, 2, 3]],
  ['a', '', [0, 1]],
  ['a', 'primary', [0]],
  ['a', 'backup', [1]],
  ['b', 'primary', [1, 2]],
  ['nobody', '', []],
])('of what %j holds as %j', async (holder, role, found) => {
  const { records, stopped } = await listHere(parts(), { ...anything, holder, role });
  expect(records.map(({ lo }) => lo).toSorted((a, b) => a - b)).toEqual(found);
  expect(stopped).toBeNull();
});
