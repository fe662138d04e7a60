/**
 * One request of the API, made at whichever member answers. Failover on connection errors, time-outs, 5xx and answers
 * that no member gives; every request that goes through here may be repeated (the caller sees to that with ids and
 * idempotency keys).
 */
import type { AnswerHeaders, Exchange, Incoming } from './connections/exchange.ts';
import {
  ApiError,
  type FailedAttempt,
  type Problem,
  StrangeAnswer,
  UnreachableError,
} from './errors.ts';
import type { Members } from './members.ts';
import type { SeenVersion } from './seen-version.ts';
import type { ClientSystem } from './system.ts';

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With the leading slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** False: one attempt at one member, because a repetition would do something twice. */
  readonly repeatable?: boolean;
  /**
   * Whether an answer of 2xx is one that a member gives to this request. False: another member is asked. Default: any
   * is.
   */
  readonly fits?: (answer: ApiAnswer) => boolean;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; null when there is none. */
  readonly body: unknown;
}

/** A request in the form in which it is sent, perhaps more than once. */
export interface Prepared {
  readonly method: ApiRequest['method'];
  /** With the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; null: no body. */
  readonly text: string | null;
}

/** How long to go on with a request. */
export interface Course {
  readonly signal: AbortSignal | undefined;
  readonly repeatable: boolean;
}

export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** The parsed JSON body; null when there is none. */
  readonly body: unknown;
}

export interface TransportOptions {
  readonly members: Members;
  readonly token: string | null;
  readonly namespace: string | null;
  /** Sent with every change, and raised by every answer to one. */
  readonly seen: SeenVersion;
  readonly exchange: Exchange;
  readonly system: ClientSystem;
  /** For one attempt at one member. */
  readonly timeoutMs: number;
  readonly avoidMs: number;
}

const attemptCountMax = 5;
/** Before a member that just failed is asked once more, because there is no other. */
const againMs = 100;

export class Transport {
  private readonly options: TransportOptions;

  constructor(options: TransportOptions) {
    this.options = options;
  }

  /**
   * `read` throws StrangeAnswer for an answer of 2xx that no member gives. Rejects with ApiError, UnreachableError, or
   * the reason of the signal.
   */
  request<T>(request: ApiRequest, read: (answer: Answer) => T): Promise<T> {
    const { signal, repeatable = true } = request;
    const course = { signal, repeatable };
    const prepared = preparedOf(request);
    return this.atMembers(course, async (member) =>
      read(await this.attempt(member, prepared, course)),
    );
  }

  /**
   * Calls `attempt` for one member after the other until it does not fail. One that rejects with an ApiError below 500
   * is the end of it: the member works, the request does not, and another member would say the same.
   */
  async atMembers<T>(course: Course, attempt: (member: string) => Promise<T>): Promise<T> {
    const { members, system, avoidMs } = this.options;
    const { signal } = course;
    const tried: string[] = [];
    const failures: FailedAttempt[] = [];
    let refusal: ApiError | null = null;
    for (const member of this.route(course)) {
      signal?.throwIfAborted();
      if (tried.includes(member)) await this.pause(againMs, signal);
      tried.push(member);
      try {
        const answer = await attempt(member);
        members.worked(member);
        return answer;
      } catch (error) {
        signal?.throwIfAborted();
        if (error instanceof ApiError && error.status < 500) {
          members.worked(member);
          throw error;
        }
        members.failed(member, system.now() + avoidMs);
        if (error instanceof ApiError) refusal = error;
        const strange = error instanceof StrangeAnswer;
        failures.push({ member, reason: reasonOf(error), strange });
      }
    }
    throw refusal ?? new UnreachableError(failures);
  }

  /** One attempt at one member. Rejects with ApiError for any answer but 2xx. */
  async attempt(member: string, prepared: Prepared, course: Course): Promise<Answer> {
    const { exchange, system, timeoutMs } = this.options;
    const { signal, repeatable } = course;
    const controller = new AbortController();
    const cancel = system.after(timeoutMs, () =>
      controller.abort(new Error(`no answer within ${timeoutMs} ms`)),
    );
    const forward = (): void => controller.abort(signal?.reason);
    signal?.addEventListener('abort', forward, { once: true });
    try {
      const incoming = await exchange({
        method: prepared.method,
        url: member + prepared.path,
        headers: this.headersOf(prepared),
        body: prepared.text,
        signal: controller.signal,
        repeatable,
      });
      this.options.seen.add(incoming.headers.get('carillon-version') ?? '');
      return readAnswer(incoming);
    } catch (error) {
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      cancel();
      signal?.removeEventListener('abort', forward);
    }
  }

  private route({ repeatable }: Course): string[] {
    const { members, system } = this.options;
    const order = members.order(system.now(), () => system.random());
    if (!repeatable) return order.slice(0, 1);
    const [only] = order;
    return order.length === 1 && only !== undefined
      ? [only, only]
      : order.slice(0, attemptCountMax);
  }

  private headersOf({ method, headers: given, text }: Prepared): Record<string, string> {
    const headers: Record<string, string> = { ...given };
    if (text !== null) headers['content-type'] = 'application/json';
    const { token, namespace, seen } = this.options;
    if (token !== null) headers['authorization'] = `Bearer ${token}`;
    if (namespace !== null) headers['carillon-namespace'] ??= namespace;
    if (method !== 'GET' && seen.text !== null) headers['carillon-seen'] ??= seen.text;
    return headers;
  }

  private pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const cancel = this.options.system.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      const stop = (): void => {
        cancel();
        reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      };
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}

function preparedOf({ method, path, query, headers = {}, body }: ApiRequest): Prepared {
  const given = Object.entries(query ?? {}).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  const asked = given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
  const text = body === undefined ? null : JSON.stringify(body);
  return { method, path: path + asked, headers, text };
}

function readAnswer({ status, headers, text }: Incoming): Answer {
  const body = parseJson(text);
  if (status >= 200 && status < 300) return { status, headers, body: body ?? null };
  const isProblem = typeof body === 'object' && body !== null && !Array.isArray(body);
  const problem = isProblem ? (body as Problem) : null;
  // Any server says this of a path that it does not know; a member adds a title.
  if ((status === 404 || status === 405) && typeof problem?.title !== 'string')
    throw new StrangeAnswer(`status ${status} without a title`);
  throw new ApiError(status, problem, retryAfterMs(headers));
}

/** undefined: not JSON. Such a body comes from a proxy in between, or is empty. */
function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function retryAfterMs(headers: AnswerHeaders): number | null {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) * 1000 : null;
}

/** fetch hides the reason of a failure in `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && cause.message !== '') return cause.message;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : error.message;
}
