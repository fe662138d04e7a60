/**
 * Broken rules of where records are and how long: stand-ins, hand-off, repair, the filter in ids, tombstones, doubt,
 * damage.
 */
import { compareProgress, State } from '@carillon/core';
import { DiskCare, HandOff, insides, Replica, Scrub, View } from '@carillon/server/internal';
import { type Broken, replaces, together } from './broken.ts';
import { asksListed, forgetsAtStart } from './splitting.ts';
import { nothingSentAgain } from './without-repair.ts';

const shortTombstones = replaces(Replica.prototype, 'alarm', ({ original, part }, record) =>
  record.state === State.tombstone ? record.dueMs + 1000 : original.call(part, record),
);

const buriedUnasked = replaces(insides.handOff, 'bury', ({ part }, record) => {
  part.parts.replica.drop(record);
});

// Members that are not listed ask all possible holders, so a forgotten name does no harm unless that is broken too.
const places: readonly Broken[] = [
  {
    name: 'no stand-in',
    apply: replaces(insides.write, 'standIn', () => undefined),
  },
  {
    name: 'the filter in an id names no member',
    apply: replaces(View.prototype, 'heldBy', () => []),
  },
  {
    name: 'a copy is dropped before the new replicas have it',
    apply: replaces(insides.handOff, 'one', ({ original, part }, number) => {
      const { self, replica } = part.parts;
      const record = replica.get(number.hi, number.lo);
      if (record !== undefined && !record.replicas.includes(self)) replica.drop(record);
      else original.call(part, number);
    }),
  },
  {
    name: 'a former stand-in forgets the present one',
    apply: together(
      asksListed,
      replaces(insides.resync, 'standIns', ({ original, part }, record, wanted) =>
        part.parts.replica.owns(record) ? original.call(part, record, wanted) : [],
      ),
    ),
  },
  {
    name: 'stand-ins that the view does not ask for forget each other',
    apply: together(
      asksListed,
      replaces(insides.resync, 'standIns', ({ original, part }, record, wanted) => {
        const others = wanted.some((name) => !record.replicas.includes(name));
        return others ? [] : original.call(part, record, wanted);
      }),
    ),
  },
  {
    name: 'a former holder does not hear of a stand-in',
    apply: together(
      asksListed,
      replaces(insides.write, 'tell', ({ original, part }, name) => {
        if (part.record.replicas.includes(name)) original.call(part, name);
      }),
    ),
  },
  {
    name: 'no resync',
    apply: replaces(HandOff.prototype, 'add', () => undefined),
  },
  { name: 'no repair', apply: nothingSentAgain },
];

const endings: readonly Broken[] = [
  { name: 'tombstone too short', apply: shortTombstones },
  { name: 'tombstone dropped without asking', apply: together(shortTombstones, buriedUnasked) },
  {
    name: 'old records are not doubted',
    apply: replaces(Replica.prototype, 'doubtAll', () => undefined),
  },
  {
    name: 'damage is ignored',
    apply: replaces(DiskCare.prototype, 'begin', ({ original, part }, disk, journal, singles) => {
      const snapshots = changed(journal.snapshots, { rewrite: () => undefined });
      const blind = changed(journal, { damaged: [], lost: null, torn: false, snapshots });
      return original.call(part, disk, blind, singles);
    }),
  },
  {
    name: 'a doubtful record is dropped where others remember too little',
    apply: replaces(insides.doubt, 'judge', ({ original, part }, record, testimonies) => {
      const { replica } = part.parts;
      const current = replica.get(record.hi, record.lo);
      const known = testimonies.some((testimony) => testimony.record !== null);
      if (known) original.call(part, record, testimonies);
      else if (current !== undefined && compareProgress(current, record) === 0) {
        replica.drop(current);
      }
    }),
  },
];

const care: readonly Broken[] = [
  {
    name: 'damage is looked for at a start only',
    apply: replaces(Scrub.prototype, 'start', () => undefined),
  },
  {
    name: 'a member that testifies with an older record is not told',
    // The replicas hear of the record from a stand-in that has just started, and when a record whose list is not the
    // right one is trusted, so both are broken too.
    apply: together(
      replaces(insides.doubt, 'judge', ({ original, part }, record, testimonies) => {
        const parts = changed(part.parts, { onTrusted: () => undefined });
        original.call(changed(part, { parts, tell: () => undefined }), record, testimonies);
      }),
      forgetsAtStart,
    ),
  },
];

export const keeping: readonly Broken[] = [...places, ...endings, ...care];

/** The same object for all but these fields. */
function changed<T extends object>(whole: T, fields: Partial<T>): T {
  return Object.create(whole, Object.getOwnPropertyDescriptors(fields)) as T;
}
