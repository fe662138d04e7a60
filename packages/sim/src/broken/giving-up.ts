/** Broken rules of giving up: which calls count as attempts, and the fate of a letter that is sent again or has no room. */
import { insides } from '@carillon/server/internal';
import { type Broken, type Mend, together } from './broken.ts';
import { endsWith } from './popping.ts';

const delivered = { kind: 'answer', status: 200, retryAfterMs: null } as const;

/** A pop whose receiver is left alone is not kept back before it asks for its place. */
const noRest = (): Mend => {
  const { popper } = insides;
  const { restMs } = popper;
  popper.restMs = () => 0;
  return () => {
    popper.restMs = restMs;
  };
};

/** A full box is as good as any other: the letter has its place. */
const neverFull = (): Mend => {
  const { popper } = insides;
  const { circumstances } = popper;
  popper.circumstances = function (pop, at) {
    return { ...circumstances.call(this, pop, at), boxIsFull: false };
  };
  return () => {
    popper.circumstances = circumstances;
  };
};

export const givingUp: readonly Broken[] = [
  {
    name: 'a letter whose redelivery failed is gone',
    apply: endsWith((pop, result) =>
      pop.definition.origin === null || result.kind === 'unmade' ? result : delivered,
    ),
  },
  {
    name: 'a call that never left counts as an attempt',
    apply: together(
      noRest,
      endsWith((_, result) =>
        result.kind === 'unmade'
          ? { kind: 'no-answer', reason: 'refused', detail: result.detail }
          : result,
      ),
    ),
  },
  {
    name: 'a full letter box drops the pop',
    apply: together(neverFull, () => {
      const { popper } = insides;
      const { carryOut } = popper;
      popper.carryOut = function (pop, current, after) {
        const isDropped = after.kind === 'letter' && this.parts.isBoxFull(pop.record.namespace);
        if (!isDropped) return carryOut.call(this, pop, current, after);
        pop.phase = 'calling';
        this.buried(pop, after.record, true);
      };
      return () => {
        popper.carryOut = carryOut;
      };
    }),
  },
];
