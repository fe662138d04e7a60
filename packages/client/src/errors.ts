/** Failures of a request: the cluster refused it (ApiError), or no member answered (UnreachableError). */

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

export interface FailedAttempt {
  readonly member: string;
  readonly reason: string;
}

/** No member could be asked. The request may or may not have taken effect. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
  readonly attempts: readonly FailedAttempt[];

  constructor(attempts: readonly FailedAttempt[], options?: ErrorOptions) {
    const told = new Set(attempts.map(({ member, reason }) => `${member}: ${reason}`));
    super(`No member answered (${[...told].join('; ')}).`, options);
    this.attempts = attempts;
  }
}
