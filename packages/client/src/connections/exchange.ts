/**
 * One HTTP request and its answer, as the client needs them: the port between the client and its HTTP implementation.
 */

export interface Outgoing {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** null: none. */
  readonly body: string | null;
  /** Ends the exchange at once; it rejects with the reason. */
  readonly signal: AbortSignal;
  /** Whether the member may see the request twice. */
  readonly repeatable: boolean;
}

export interface AnswerHeaders extends Iterable<[string, string]> {
  /** `name` in lower case; null: there is no such header. */
  get(name: string): string | null;
}

export interface Incoming {
  readonly status: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
}

/** Rejects when there was no answer. A redirect is none. */
export type Exchange = (outgoing: Outgoing) => Promise<Incoming>;
