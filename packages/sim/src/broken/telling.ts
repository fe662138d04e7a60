/** Broken rules of events: one for the cluster, and none because of another. */
import { insides } from '@carillon/server/internal';
import { type Broken, replaces } from './broken.ts';

export const telling: readonly Broken[] = [
  {
    name: 'each member makes an event of its own',
    apply: () => {
      const known = new WeakMap<object, number>();
      let count = 0;
      const apply = replaces(insides.events, 'numberOf', ({ original, part }, event) => {
        const own = known.get(part) ?? ++count;
        known.set(part, own);
        const { hi, lo } = original.call(part, event);
        return { hi, lo: (lo ^ own) >>> 0 };
      });
      return apply();
    },
  },
  {
    name: 'an event that is given up is worth an event',
    apply: replaces(insides.attempts, 'carryOut', ({ original, part }, pop, current, after) => {
      original.call(part, pop, current, after);
      if (after.kind === 'forgotten') part.parts.announce(current, () => undefined);
    }),
  },
];
