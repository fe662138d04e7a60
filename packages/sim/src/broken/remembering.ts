/** A broken rule of the history: nothing waits for it. */
import { insides } from '@carillon/server/internal';
import type { Broken } from './broken.ts';

export const remembering: readonly Broken[] = [
  {
    name: 'a pop is not over while the history cannot be written',
    apply: () => {
      const { attempts } = insides;
      const { ended } = attempts;
      attempts.ended = function (pop, result) {
        const { historyLog } = this.parts;
        const isLeavingOut =
          historyLog !== null && 'omitted' in historyLog && historyLog.omitted !== 0;
        if (!isLeavingOut) ended.call(this, pop, result);
      };
      return () => {
        attempts.ended = ended;
      };
    },
  },
];
