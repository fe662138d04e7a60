/** Errors as clients see them: problem+json (RFC 9457) with a JSON pointer to the offending member of the body. */
import { CarillonError, type ErrorCode, formatVersion } from '@carillon/core';
import type { ApiResponse } from './message.ts';

export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly pointer?: string;
  /** The version of a change that may have been stored although it failed. */
  readonly version?: string;
}

/** A disk does not get empty within a second. */
const retryAfterSeconds: Partial<Record<ErrorCode, number>> = { disk_full: 30 };

/** Seconds until it makes sense to try again; null: it does not. */
export function retryAfterOf(error: CarillonError): number | null {
  return error.retry ? (retryAfterSeconds[error.code] ?? 1) : null;
}

export function problemOf(error: CarillonError): Problem {
  return {
    type: `urn:carillon:problem:${error.code}`,
    title: error.title,
    status: error.status,
    detail: error.message,
    ...(error.pointer !== null && { pointer: error.pointer }),
    ...(error.version !== null && { version: formatVersion(error.version) }),
  };
}

/** `more`: members of the problem that only errors of one kind have. */
export function problemResponse(
  error: CarillonError,
  headers: readonly string[] = [],
  more: object = {},
): ApiResponse {
  const all = ['content-type', 'application/problem+json', ...headers];
  if (error.version !== null) all.push('carillon-version', formatVersion(error.version));
  const seconds = retryAfterOf(error);
  if (seconds !== null && !headers.includes('retry-after')) all.push('retry-after', `${seconds}`);
  return {
    status: error.status,
    headers: all,
    body: JSON.stringify({ ...problemOf(error), ...more }),
  };
}

/** For a bug of ours: the client learns that it was not at fault, and nothing else. */
export const bugResponse: ApiResponse = {
  status: 500,
  headers: ['content-type', 'application/problem+json'],
  body: JSON.stringify({
    type: 'urn:carillon:problem:bug',
    title: 'The member made a mistake',
    status: 500,
    detail: 'The request met a bug; the log of the member has the particulars.',
  }),
};

export function badRequest(detail: string, pointer?: string): CarillonError {
  return new CarillonError('bad_request', detail, pointer === undefined ? {} : { pointer });
}
