/**
 * Broken rules of where records are and how long: stand-ins, hand-off, repair, the filter in ids, tombstones, doubt,
 * damage.
 */
import { compareProgress, State } from '@carillon/core';
import { DiskCare, HandOff, insides, Replica, Scrub, View } from '@carillon/server/internal';
import { type Broken, type Mend, together } from './broken.ts';
import { asksListed } from './splitting.ts';
import { nothingSentAgain } from './without-repair.ts';

const shortTombstones = (): Mend => {
  const replica = Replica.prototype;
  const { alarm } = replica;
  replica.alarm = function (record) {
    return record.state === State.tombstone ? record.dueMs + 1000 : alarm.call(this, record);
  };
  return () => {
    replica.alarm = alarm;
  };
};

const buriedUnasked = (): Mend => {
  const { handOff } = insides;
  const { bury } = handOff;
  handOff.bury = function (record) {
    this.parts.replica.drop(record);
  };
  return () => {
    handOff.bury = bury;
  };
};

// Members that are not listed ask widely: a name that they forget is noticed where they do not.
const places: readonly Broken[] = [
  {
    name: 'no stand-in',
    apply: () => {
      const { write } = insides;
      const { standIn } = write;
      write.standIn = () => undefined;
      return () => {
        write.standIn = standIn;
      };
    },
  },
  {
    name: 'the filter in an id names no member',
    apply: () => {
      const view = View.prototype;
      const { heldBy } = view;
      view.heldBy = () => [];
      return () => {
        view.heldBy = heldBy;
      };
    },
  },
  {
    name: 'a copy is dropped before the new replicas have it',
    apply: () => {
      const { handOff } = insides;
      const { one } = handOff;
      handOff.one = function (number) {
        const { self, replica } = this.parts;
        const record = replica.get(number.hi, number.lo);
        if (record !== undefined && !record.replicas.includes(self)) replica.drop(record);
        else one.call(this, number);
      };
      return () => {
        handOff.one = one;
      };
    },
  },
  {
    name: 'a former stand-in forgets the present one',
    apply: together(asksListed, () => {
      const { resync } = insides;
      const { standIns } = resync;
      resync.standIns = function (record, wanted) {
        return this.parts.replica.owns(record) ? standIns.call(this, record, wanted) : [];
      };
      return () => {
        resync.standIns = standIns;
      };
    }),
  },
  {
    name: 'stand-ins that the view does not ask for forget each other',
    apply: together(asksListed, () => {
      const { resync } = insides;
      const { standIns } = resync;
      resync.standIns = function (record, wanted) {
        const others = wanted.some((name) => !record.replicas.includes(name));
        return others ? [] : standIns.call(this, record, wanted);
      };
      return () => {
        resync.standIns = standIns;
      };
    }),
  },
  {
    name: 'a former holder does not hear of a stand-in',
    apply: together(asksListed, () => {
      const { write } = insides;
      const { tell } = write;
      write.tell = function (name) {
        if (this.record.replicas.includes(name)) tell.call(this, name);
      };
      return () => {
        write.tell = tell;
      };
    }),
  },
  {
    name: 'no resync',
    apply: () => {
      const handOff = HandOff.prototype;
      const { add } = handOff;
      handOff.add = () => undefined;
      return () => {
        handOff.add = add;
      };
    },
  },
  { name: 'no repair', apply: nothingSentAgain },
];

const endings: readonly Broken[] = [
  { name: 'tombstone too short', apply: shortTombstones },
  { name: 'tombstone dropped without asking', apply: together(shortTombstones, buriedUnasked) },
  {
    name: 'old records are not doubted',
    apply: () => {
      const replica = Replica.prototype;
      const { doubtAll } = replica;
      replica.doubtAll = () => undefined;
      return () => {
        replica.doubtAll = doubtAll;
      };
    },
  },
  {
    name: 'damage is ignored',
    apply: () => {
      const diskCare = DiskCare.prototype;
      const { begin } = diskCare;
      diskCare.begin = function (disk, journal, singles) {
        const snapshots = changed(journal.snapshots, { rewrite: () => undefined });
        const blind = changed(journal, { damaged: [], lost: null, torn: false, snapshots });
        return begin.call(this, disk, blind, singles);
      };
      return () => {
        diskCare.begin = begin;
      };
    },
  },
  {
    name: 'a doubtful record is dropped where others remember too little',
    apply: () => {
      const { doubt } = insides;
      const { judge } = doubt;
      doubt.judge = function (record, testimonies) {
        const { replica } = this.parts;
        const current = replica.get(record.hi, record.lo);
        const known = testimonies.some((testimony) => testimony.record !== null);
        if (known) judge.call(this, record, testimonies);
        else if (current !== undefined && compareProgress(current, record) === 0) {
          replica.drop(current);
        }
      };
      return () => {
        doubt.judge = judge;
      };
    },
  },
];

const care: readonly Broken[] = [
  {
    name: 'damage is looked for at a start only',
    apply: () => {
      const scrub = Scrub.prototype;
      const { start } = scrub;
      scrub.start = () => undefined;
      return () => {
        scrub.start = start;
      };
    },
  },
  {
    name: 'a member that testifies with an older record is not told',
    apply: () => {
      const { doubt } = insides;
      const { tell } = doubt;
      doubt.tell = () => undefined;
      return () => {
        doubt.tell = tell;
      };
    },
  },
];

export const keeping: readonly Broken[] = [...places, ...endings, ...care];

/** The same object for all but these fields. */
function changed<T extends object>(whole: T, fields: Partial<T>): T {
  return Object.create(whole, Object.getOwnPropertyDescriptors(fields)) as T;
}
