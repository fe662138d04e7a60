/**
 * Several callbacks as one HTTP request: NDJSON, a line for each pop with what its headers would have told and its opaque.
 */
import { createHash } from 'node:crypto';
import type { CallbackRequest } from '@carillon/core';
import type { Signer } from './sign.ts';

export interface BatchLimits {
  /** Pops in one request. */
  readonly countMax: number;
  /** A request that has reached this size gets no more of them. */
  readonly bytesMax: number;
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** All of one uri. The time limit is the shortest of them. */
export function batchRequest(
  requests: readonly CallbackRequest[],
  signer: Signer | null,
  wallMs: number,
): CallbackRequest {
  const first = requests[0] as CallbackRequest;
  const body = encoder.encode(requests.map(lineOf).join(''));
  return {
    uri: first.uri,
    method: 'POST',
    headers: {
      'content-type': 'application/x-ndjson',
      'x-timer-count': String(requests.length),
      ...signer?.headers(nameOf(body), wallMs, body),
    },
    body,
    limitMs: requests.reduce((least, { limitMs }) => Math.min(least, limitMs), first.limitMs),
  };
}

function lineOf({ headers, body }: CallbackRequest): string {
  const missed = headers['x-timer-missed'];
  const line = {
    id: headers['x-timer-id'],
    sequence: Number(headers['x-sequence-number']),
    due: headers['x-timer-due'],
    version: headers['x-timer-version'],
    attempt: Number(headers['x-timer-attempt']),
    ...(missed !== undefined && { missed: Number(missed) }),
    opaque: decoder.decode(body),
  };
  return `${JSON.stringify(line)}\n`;
}

/** Equal batches have equal names: a receiver that drops what it had before must not drop anything else. */
function nameOf(body: Uint8Array): string {
  return `batch_${createHash('sha256').update(body).digest('hex').slice(0, 32)}`;
}
