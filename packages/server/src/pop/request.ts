/** The callback of one pop as an HTTP request: the opaque as body, and headers that tell which pop this is. */
import type { CallbackRequest, Definition, TimerRecord, Version } from '@carillon/core';
import { dueWallMs } from '../replication/due-wall.ts';
import type { Instant } from '../replication/schedule.ts';
import { callbackId, type Signer } from './sign.ts';

export interface PopContext {
  readonly record: TimerRecord;
  readonly definition: Definition;
  /** Earlier pops merged into this one. */
  readonly missed: number;
  /** The timer's id as clients know it. */
  readonly id: string;
  readonly timeoutMs: number;
  readonly signer: Signer | null;
}

const encoder = new TextEncoder();

export function callbackRequest(pop: PopContext, at: Instant): CallbackRequest {
  const { definition, record, signer } = pop;
  const { origin } = definition;
  const sequence = origin?.sequence ?? record.sequence + pop.missed + 1;
  const dueMs = origin?.dueMs ?? dueWallMs(record, definition.timing, at);
  const missed = origin?.missed ?? pop.missed;
  const body = encoder.encode(definition.opaque);
  // A re-sent dead letter carries the id, version and so the name of the pop it stands for.
  const id = origin?.id ?? pop.id;
  const name = callbackId(id, origin ?? record, sequence);
  const headers: Record<string, string> = {
    ...definition.headers,
    'x-sequence-number': String(sequence),
    'x-timer-id': id,
    'x-timer-due': new Date(dueMs).toISOString(),
    'x-timer-version': versionText(origin ?? record),
    'x-timer-attempt': String(record.attempt + 1),
    ...(missed > 0 && { 'x-timer-missed': String(missed) }),
    ...signer?.headers(name, at.wallMs, body),
  };
  return {
    uri: definition.uri,
    method: definition.method,
    headers,
    body,
    limitMs: definition.timeoutMs ?? pop.timeoutMs,
  };
}

function versionText({ versionMs, versionTie }: Version): string {
  return `${versionMs}.${versionTie}`;
}
