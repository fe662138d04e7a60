/**
 * Broken rules of giving up: which calls count as attempts, and the fate of a letter that is sent again or has no room.
 */
import { decodeDefinition, State } from '@carillon/core';
import { type AttemptsInside, insides, RecordChanges } from '@carillon/server/internal';
import { type Broken, type Mend, together } from './broken.ts';
import { endsWith } from './popping.ts';

const delivered = { kind: 'answer', status: 200, retryAfterMs: null } as const;

/** A pop whose receiver is left alone is not kept back before it asks for its place. */
const noRest = (): Mend => {
  const { readiness } = insides;
  const { restMs } = readiness;
  readiness.restMs = () => 0;
  return () => {
    readiness.restMs = restMs;
  };
};

/** A full box is as good as any other: the letter has its place. */
const neverFull = (): Mend => {
  const { popRules } = insides;
  const { circumstances } = popRules;
  popRules.circumstances = function (pop, missed, at) {
    return { ...circumstances.call(this, pop, missed, at), boxIsFull: false };
  };
  return () => {
    popRules.circumstances = circumstances;
  };
};

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
    apply: () => {
      const { popRules } = insides;
      const { circumstances } = popRules;
      popRules.circumstances = function (pop, missed, at) {
        return { ...circumstances.call(this, pop, missed, at), startMs: pop.record.dueMs };
      };
      return () => {
        popRules.circumstances = circumstances;
      };
    },
  },
  {
    name: 'each request to send a letter again has a version of its own',
    apply: () => {
      const changes = RecordChanges.prototype;
      const { tryWrite } = changes;
      let asked = 0;
      changes.tryWrite = function (request) {
        const { record } = request;
        const isResent =
          record.state === State.live && decodeDefinition(record.body).origin !== null;
        if (!isResent) return tryWrite.call(this, request);
        asked++;
        const stamped = { ...record, versionTie: record.versionTie + asked };
        return tryWrite.call(this, { ...request, record: stamped });
      };
      return () => {
        changes.tryWrite = tryWrite;
      };
    },
  },
  {
    name: 'a full letter box drops the pop',
    apply: together(neverFull, () => {
      const { attempts } = insides;
      const { carryOut } = attempts;
      attempts.carryOut = function (pop, current, after) {
        const isDropped = after.kind === 'letter' && isBoxFull(this, pop.record.namespace);
        if (!isDropped) return carryOut.call(this, pop, current, after);
        this.parts.happens(pop, 'give-up');
        this.buried(pop, after.record, true);
      };
      return () => {
        attempts.carryOut = carryOut;
      };
    }),
  },
];
