/** A broken rule of the history: nothing waits for it. */
import { insides } from '@carillon/server/internal';
import { type Broken, replaces } from './broken.ts';

export const remembering: readonly Broken[] = [
  {
    name: 'a pop is not over while the history cannot be written',
    apply: replaces(insides.attempts, 'ended', ({ original, part }, pop, result) => {
      const { historyLog } = part.parts;
      const isLeavingOut =
        historyLog !== null && 'omitted' in historyLog && historyLog.omitted !== 0;
      if (!isLeavingOut) original.call(part, pop, result);
    }),
  },
];
