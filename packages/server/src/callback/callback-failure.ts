/**
 * Names the failure of a callback. The detail carries the error's code and never its message: messages hold
 * inner addresses and parts of answers, and details end up in dead letters.
 */
import type { Attempted, Unmade } from '@carillon/core';
import { ForbiddenError, UnresolvableError } from './connect.ts';

type Reason = Extract<Attempted, { kind: 'no-answer' }>['reason'];

const reasons: Readonly<Record<string, Reason>> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  EHOSTDOWN: 'refused',
  ENETUNREACH: 'refused',
  ENETDOWN: 'refused',
  EADDRNOTAVAIL: 'refused',
  EACCES: 'refused',
  EPERM: 'refused',
  ETIMEDOUT: 'timeout',
  ENOTFOUND: 'unresolvable',
  EAI_AGAIN: 'unresolvable',
};

/** Codes of OpenSSL and of certificate checks. */
const tls = /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

export function noAnswer(reason: Reason, detail: string): Attempted {
  return { kind: 'no-answer', reason, detail };
}

/** The request does not leave the member. */
export function unmade(detail: string, waitMs: number): Unmade {
  return { kind: 'unmade', detail, waitMs };
}

export function resultOfError(error: Error): Attempted {
  if (error instanceof ForbiddenError) return noAnswer('forbidden', error.message);
  if (error instanceof UnresolvableError) return noAnswer('unresolvable', error.message);
  const code = codeOf(error);
  if (tls.test(code)) return noAnswer('tls', `${sentences.tls} (${code}).`);
  const reason = reasons[code] ?? 'cut';
  return noAnswer(reason, `${sentences[reason]} (${code}).`);
}

const sentences: Readonly<Record<Reason, string>> = {
  refused: 'No connection to the receiver came about',
  timeout: 'The receiver did not answer in time',
  unresolvable: 'The receiver has no address in DNS',
  forbidden: 'The request cannot be sent as it is',
  cut: 'The connection ended before the answer',
  tls: 'No trusted TLS connection came about',
};

function codeOf(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code;
  return typeof code === 'string' ? code : error.name;
}
