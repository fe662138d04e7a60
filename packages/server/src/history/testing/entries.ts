/** Entries of the history for tests. */
import type { AttemptEntry, ChangeEntry } from '../entry.ts';

export function attemptEntry(fields: Partial<AttemptEntry> = {}): AttemptEntry {
  return {
    kind: 'attempt',
    wallMs: Date.UTC(2026, 0, 1),
    namespace: 'default',
    hi: 1,
    lo: 2,
    sequence: 1,
    attempt: 1,
    latenessMs: 0.5,
    tookMs: 12.3,
    outcome: 200,
    position: 0,
    detail: '',
    ...fields,
  };
}

export function changeEntry(fields: Partial<ChangeEntry> = {}): ChangeEntry {
  return {
    kind: 'change',
    wallMs: Date.UTC(2026, 0, 1),
    namespace: 'default',
    hi: 1,
    lo: 2,
    action: 'set',
    versionMs: Date.UTC(2026, 0, 1),
    versionTie: 7,
    sequence: 0,
    actor: '',
    tag: '',
    ...fields,
  };
}
