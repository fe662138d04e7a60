/** The record that the benchmarks of the store use: a 64-byte opaque, a 30-byte uri, due in an hour. */
import { type Definition, encodeDefinition, State, type TimerRecord } from '@carillon/core';
import { definitionOf } from '@carillon/core/testing';

export const definition: Definition = definitionOf({
  timing: {
    kind: 'interval',
    intervalMs: 3_600_000,
    ending: { repeatForMs: null, untilMs: null, count: null, forever: false },
  },
  uri: 'http://127.0.0.1:8080/callback',
  opaque: 'x'.repeat(64),
});
const body = encodeDefinition(definition);
const replicas = ['10.0.0.1:7253', '10.0.0.2:7253'];

/** The i-th of many, with a number as members give them out. */
export function recordOf(i: number): TimerRecord {
  const startMs = 1000 + i * 0.37;
  return {
    hi: 0x6500_0000 + Math.floor(i / 4096),
    lo: (i * 2654435761) >>> 0,
    namespace: 'default',
    factor: 2,
    versionMs: 1_800_000_000_000 + i,
    versionTie: 1024,
    state: State.live,
    sequence: 0,
    attempt: 0,
    startMs,
    dueMs: startMs + 3_600_000,
    gapMs: 3_600_000,
    retryMs: startMs + 3_600_000,
    triedMs: startMs + 3_600_000,
    outcome: 0,
    replicas,
    body,
  };
}
