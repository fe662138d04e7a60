/**
 * Records and messages for tests: something sensible, with the fields that matter set by the test. Definitions are the
 * ones of core.
 */
import { encodeDefinition, type Origin, State, type TimerRecord } from '@carillon/core';
import { definitionOf } from '@carillon/core/testing';
import type { Hello } from '../replication/wire/hello.ts';
import type { ListAsk } from '../replication/wire/list.ts';

export { definitionOf };

export function recordOf(fields: Partial<TimerRecord> = {}): TimerRecord {
  const dueMs = fields.dueMs ?? 10_000;
  return {
    hi: 1,
    lo: 2,
    namespace: 'default',
    factor: 2,
    versionMs: 1000,
    versionTie: 0,
    state: State.live,
    sequence: 0,
    attempt: 0,
    startMs: 0,
    dueMs,
    gapMs: 10_000,
    retryMs: dueMs,
    triedMs: dueMs,
    outcome: 0,
    replicas: ['a', 'b'],
    body: encodeDefinition(definitionOf()),
    ...fields,
  };
}

/** The pop that a dead letter tells of. */
export const letterOrigin: Origin = {
  id: '0000001900000001-1',
  versionMs: 5,
  versionTie: 6,
  sequence: 7,
  dueMs: 86_400_000,
  missed: 2,
  attempts: 3,
  reason: 'gone',
  gaveUpMs: 9,
};

/** The question for all timers of `default` that will pop. */
export const anything: ListAsk = {
  namespace: 'default',
  tag: null,
  state: '',
  cursor: '',
  limit: 10,
  holder: '',
  role: '',
  receiver: '',
  tagPrefix: '',
  failure: '',
};

export function helloOf(fields: Partial<Hello> = {}): Hello {
  return {
    release: '1',
    protocolMin: 1,
    protocolMax: 1,
    viewId: 'v',
    boot: 1,
    historyMs: 0,
    leaving: false,
    full: false,
    moving: false,
    disk: 'whole',
    wallMs: 0,
    timers: 0,
    primaries: 0,
    load: null,
    figures: null,
    ...fields,
  };
}
