/** Broken rules of events: one for the cluster, and none because of another. */
import { insides } from '@carillon/server/internal';
import type { Broken } from './broken.ts';

export const telling: readonly Broken[] = [
  {
    name: 'each member makes an event of its own',
    apply: () => {
      const { events } = insides;
      const { numberOf } = events;
      const known = new WeakMap<object, number>();
      let count = 0;
      events.numberOf = function (event) {
        const own = known.get(this) ?? ++count;
        known.set(this, own);
        const { hi, lo } = numberOf.call(this, event);
        return { hi, lo: (lo ^ own) >>> 0 };
      };
      return () => {
        events.numberOf = numberOf;
      };
    },
  },
  {
    name: 'an event that is given up is worth an event',
    apply: () => {
      const { attempts } = insides;
      const { carryOut } = attempts;
      attempts.carryOut = function (pop, current, after) {
        carryOut.call(this, pop, current, after);
        if (after.kind === 'forgotten') this.parts.announce(current, () => undefined);
      };
      return () => {
        attempts.carryOut = carryOut;
      };
    },
  },
];
