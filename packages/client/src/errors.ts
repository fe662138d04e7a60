/**
 * Failures of a request: the cluster refused it (ApiError), or no member answered it (UnreachableError). A server that
 * is no member (another service at the address, a proxy's own page) counts as no answer.
 */

/** The body of a refusal, RFC 9457. Members may be missing when something between answered instead. */
export interface Problem {
  readonly type?: string;
  readonly title?: string;
  readonly status?: number;
  readonly detail?: string;
  /** JSON pointer to the offending part of the request body. */
  readonly pointer?: string;
  readonly [extension: string]: unknown;
}

/** The cluster answered, and the answer is no. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** null: the answer carried no problem body. */
  readonly problem: Problem | null;
  /** When the same request may succeed; null: the answer did not say. */
  readonly retryAfterMs: number | null;

  constructor(status: number, problem: Problem | null, retryAfterMs: number | null) {
    super(problem?.detail ?? problem?.title ?? `The member answered with status ${status}.`);
    this.status = status;
    this.problem = problem;
    this.retryAfterMs = retryAfterMs;
  }
}

/** An answer that no member gives; the message names the missing part. Another member is asked. */
export class StrangeAnswer extends Error {}

export interface FailedAttempt {
  readonly member: string;
  readonly reason: string;
  /** There was an answer, and not one of a Carillon member. */
  readonly strange: boolean;
}

/** No member could be asked. The request may or may not have taken effect. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  /** NOT_A_MEMBER: at least one of the addresses answered, and not as a Carillon member does. */
  readonly code: 'NO_ANSWER' | 'NOT_A_MEMBER';
  readonly attempts: readonly FailedAttempt[];

  constructor(attempts: readonly FailedAttempt[], options?: ErrorOptions) {
    const isStrange = attempts.some(({ strange }) => strange);
    const all = attempts.map(({ member, reason, strange }) =>
      strange
        ? `${member} answered, but not as a Carillon member does: ${reason}`
        : `${member}: ${reason}`,
    );
    const told = [...new Set(all)].join('; ');
    super(isStrange ? `${told}.` : `No member answered (${told}).`, options);
    this.code = isStrange ? 'NOT_A_MEMBER' : 'NO_ANSWER';
    this.attempts = attempts;
  }
}
