/**
 * Broken rules of giving up: which calls count as attempts, and the fate of a letter that is sent again or has no room.
 */
import { decodeDefinition, State } from '@carillon/core';
import { type AttemptsInside, insides, RecordChanges } from '@carillon/server/internal';
import { type Broken, replaces, together } from './broken.ts';
import { endsWith } from './popping.ts';

const delivered = { kind: 'answer', status: 200, retryAfterMs: null } as const;

/** A pop whose receiver is left alone is not kept back before it asks for its place. */
const noRest = replaces(insides.readiness, 'restMs', () => 0);

/** A full box is as good as any other: the letter has its place. */
const neverFull = replaces(
  insides.popRules,
  'circumstances',
  ({ original, part }, pop, missed, at) => ({
    ...original.call(part, pop, missed, at),
    boxIsFull: false,
  }),
);

function isBoxFull({ parts }: AttemptsInside, namespace: string): boolean {
  const { parts: rules } = parts.rules as unknown as typeof insides.popRules;
  return rules.isBoxFull(namespace);
}

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
    name: 'the time limit of retries counts from the due time',
    apply: replaces(insides.popRules, 'circumstances', ({ original, part }, pop, missed, at) => ({
      ...original.call(part, pop, missed, at),
      startMs: pop.record.dueMs,
    })),
  },
  {
    name: 'each request to send a letter again has a version of its own',
    apply: () => {
      let asked = 0;
      const apply = replaces(RecordChanges.prototype, 'tryWrite', ({ original, part }, request) => {
        const { record } = request;
        const isResent =
          record.state === State.live && decodeDefinition(record.body).origin !== null;
        if (!isResent) return original.call(part, request);
        asked++;
        const stamped = { ...record, versionTie: record.versionTie + asked };
        return original.call(part, { ...request, record: stamped });
      });
      return apply();
    },
  },
  {
    name: 'a full letter box drops the pop',
    apply: together(
      neverFull,
      replaces(insides.attempts, 'carryOut', ({ original, part }, pop, current, after) => {
        const isDropped = after.kind === 'letter' && isBoxFull(part, pop.record.namespace);
        if (!isDropped) return original.call(part, pop, current, after);
        part.parts.happens(pop, 'give-up');
        part.buried(pop, after.record, true);
      }),
    ),
  },
];
