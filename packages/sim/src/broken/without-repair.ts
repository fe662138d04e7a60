/** Members that repair nothing: only the changes of clients and the results of pops move copies. */
import { Compare, insides, Unconfirmed } from '@carillon/server/internal';
import { type Mend, together } from './broken.ts';

/** A record that a member has not confirmed is not sent again, and no two members compare their records. */
export const nothingSentAgain: () => Mend = together(
  () => {
    const unconfirmed = Unconfirmed.prototype;
    const { push } = unconfirmed;
    unconfirmed.push = () => undefined;
    return () => {
      unconfirmed.push = push;
    };
  },
  () => {
    const compare = Compare.prototype;
    const { start } = compare;
    compare.start = () => undefined;
    return () => {
      compare.start = start;
    };
  },
);

const noResync = (): Mend => {
  const { resync } = insides;
  const { start, noteIrregular } = resync;
  resync.start = () => undefined;
  resync.noteIrregular = () => undefined;
  return () => {
    resync.start = start;
    resync.noteIrregular = noteIrregular;
  };
};

/** However long a member is silent, no record gets a stand-in for it. */
const nobodyAbsent = (): Mend => {
  const { presence } = insides;
  const { noteAbsent } = presence;
  presence.noteAbsent = () => undefined;
  return () => {
    presence.noteAbsent = noteAbsent;
  };
};

const repairOff = together(nothingSentAgain, noResync, nobodyAbsent);

/** Tells a story whose members repair nothing until it is told. */
export async function withoutRepair<T>(tell: () => Promise<T>): Promise<T> {
  const mend = repairOff();
  try {
    return await tell();
  } finally {
    mend();
  }
}
