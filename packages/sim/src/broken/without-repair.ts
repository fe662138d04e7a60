/** Members that repair nothing: only the changes of clients and the results of pops move copies. */
import { Compare, insides, Unconfirmed } from '@carillon/server/internal';
import { type Mend, replaces, together } from './broken.ts';

/** A record that a member has not confirmed is not sent again, and no two members compare their records. */
export const nothingSentAgain: () => Mend = together(
  replaces(Unconfirmed.prototype, 'push', () => undefined),
  replaces(Compare.prototype, 'start', () => undefined),
  replaces(Compare.prototype, 'check', () => undefined),
);

const noResync = together(
  replaces(insides.resync, 'start', () => undefined),
  replaces(insides.resync, 'noteIrregular', () => undefined),
);

/** However long a member is silent, no record gets a stand-in for it. */
const noneAbsent = replaces(insides.presence, 'noteAbsent', () => undefined);

const repairOff = together(nothingSentAgain, noResync, noneAbsent);

/** Tells a story whose members repair nothing until it is told. */
export async function withoutRepair<T>(tell: () => Promise<T>): Promise<T> {
  const mend = repairOff();
  try {
    return await tell();
  } finally {
    mend();
  }
}
