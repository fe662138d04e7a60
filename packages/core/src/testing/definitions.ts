/**
 * Definitions for tests and benchmarks: a timer of 10 s with nothing else asked for, and the fields that matter set.
 */
import { bareDefinition, type Definition } from '../definition.ts';

export function definitionOf(fields: Partial<Definition> = {}): Definition {
  return {
    timing: {
      kind: 'interval',
      intervalMs: 10_000,
      ending: { repeatForMs: null, untilMs: null, count: null, forever: false },
    },
    uri: 'http://127.0.0.1:1/',
    opaque: '',
    ...bareDefinition,
    ...fields,
  };
}
