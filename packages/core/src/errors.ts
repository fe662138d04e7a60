/**
 * The one class of error a caller may react to. A broken invariant is not one of these: it is an
 * `invariant` failure, which stops the member and leaves its work to the replicas.
 */
import type { Version } from './version.ts';

const table = {
  bad_request: { status: 400, title: 'The request is not valid', retry: false },
  unauthorized: { status: 401, title: 'A valid token is needed', retry: false },
  forbidden: { status: 403, title: 'The token does not allow this', retry: false },
  not_found: { status: 404, title: 'There is nothing here', retry: false },
  method_not_allowed: { status: 405, title: 'The method is not allowed here', retry: false },
  too_slow: { status: 408, title: 'The request came too slowly', retry: false },
  conflict: { status: 409, title: 'The request does not fit the present state', retry: false },
  too_large: { status: 413, title: 'The request is too large', retry: false },
  target_too_long: { status: 414, title: 'The request line is too long', retry: false },
  unsupported_media: {
    status: 415,
    title: 'The body is not in a form that is understood',
    retry: false,
  },
  expectation_failed: { status: 417, title: 'The expectation cannot be met', retry: false },
  key_reused: {
    status: 422,
    title: 'The idempotency key was used with another body',
    retry: false,
  },
  too_many: { status: 429, title: 'Too many requests', retry: true },
  headers_too_large: { status: 431, title: 'The headers are too large', retry: false },
  overloaded: { status: 503, title: 'The member cannot take this now', retry: true },
  no_copies: { status: 503, title: 'No replica confirmed the timer', retry: true },
  stopping: { status: 503, title: 'The member is stopping', retry: true },
  disk_full: { status: 507, title: 'The disk is full', retry: true },
} as const;

export type ErrorCode = keyof typeof table;

export interface CarillonErrorOptions extends ErrorOptions {
  readonly pointer?: string;
  /** In place of the title of all errors with the code. */
  readonly title?: string;
  readonly version?: Version;
}

export class CarillonError extends Error {
  override readonly name = 'CarillonError';
  readonly code: ErrorCode;
  /** JSON pointer (RFC 6901) to the offending member of the request body, where there is one. */
  readonly pointer: string | null;
  /** The version of a change that may have been stored although it failed. */
  readonly version: Version | null;
  readonly title: string;

  constructor(code: ErrorCode, detail: string, options: CarillonErrorOptions = {}) {
    super(detail, options);
    this.code = code;
    this.pointer = options.pointer ?? null;
    this.version = options.version ?? null;
    this.title = options.title ?? table[code].title;
  }

  get status(): number {
    return table[this.code].status;
  }

  /** Whether the same request may succeed a little later. */
  get retry(): boolean {
    return table[this.code].retry;
  }
}

/** The sentence of anything that was thrown. */
export function sentenceOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Holds an assumption the code is built on. Its failure is a bug, never a user's mistake. */
export function invariant(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(`Broken invariant: ${why}`);
}
