/** Definitions for tests and benchmarks: a timer of 10 s with nothing else asked for, and the fields that matter set. */
import type { Definition } from '../definition.ts';

export function definitionOf(fields: Partial<Definition> = {}): Definition {
  return {
    timing: {
      kind: 'interval',
      intervalMs: 10_000,
      ending: { repeatForMs: null, untilMs: null, count: null, forever: false },
    },
    uri: 'http://127.0.0.1:1/',
    opaque: '',
    method: 'POST',
    headers: {},
    timeoutMs: null,
    retry: null,
    tags: [],
    tagInfo: [],
    batch: false,
    idempotent: false,
    origin: null,
    onFailure: null,
    event: null,
    form: 'plain',
    trace: null,
    ...fields,
  };
}
