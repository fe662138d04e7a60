/**
 * One request of the API, made at whichever member answers. Failover on connection errors, time-outs and 5xx; every
 * request that goes through here may be repeated (the caller sees to that with ids and idempotency keys).
 */
import { ApiError, type FailedAttempt, type Problem, UnreachableError } from './errors.ts';
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
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON body; null when there is none. */
  readonly body: unknown;
}

export interface TransportOptions {
  readonly members: Members;
  readonly token: string | null;
  readonly namespace: string | null;
  /** Sent with every change, and raised by every answer to one. */
  readonly seen: SeenVersion;
  readonly fetch: typeof fetch;
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

  /** Rejects with ApiError, UnreachableError, or the reason of the signal. */
  async request(request: ApiRequest): Promise<ApiAnswer> {
    const { members, system, avoidMs } = this.options;
    const tried: string[] = [];
    const failures: FailedAttempt[] = [];
    let refusal: ApiError | null = null;
    for (const member of this.route(request)) {
      request.signal?.throwIfAborted();
      if (tried.includes(member)) await this.pause(againMs, request.signal);
      tried.push(member);
      try {
        const answer = await this.attempt(member, request);
        members.worked(member);
        return answer;
      } catch (error) {
        request.signal?.throwIfAborted();
        // 4xx: the member works, the request does not. Another member would say the same.
        if (error instanceof ApiError && error.status < 500) {
          members.worked(member);
          throw error;
        }
        members.failed(member, system.now() + avoidMs);
        if (error instanceof ApiError) refusal = error;
        failures.push({ member, reason: reasonOf(error) });
      }
    }
    throw refusal ?? new UnreachableError(failures);
  }

  private route({ repeatable = true }: ApiRequest): string[] {
    const { members, system } = this.options;
    const order = members.order(system.now(), () => system.random());
    if (!repeatable) return order.slice(0, 1);
    const [only] = order;
    return order.length === 1 && only !== undefined
      ? [only, only]
      : order.slice(0, attemptCountMax);
  }

  private async attempt(member: string, request: ApiRequest): Promise<ApiAnswer> {
    const { fetch: send, system, timeoutMs } = this.options;
    const controller = new AbortController();
    const cancel = system.after(timeoutMs, () =>
      controller.abort(new Error(`no answer within ${timeoutMs} ms`)),
    );
    const forward = (): void => controller.abort(request.signal?.reason);
    request.signal?.addEventListener('abort', forward, { once: true });
    try {
      const response = await send(urlOf(member, request), {
        method: request.method,
        headers: this.headersOf(request),
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: controller.signal,
        redirect: 'error',
      });
      this.options.seen.add(response.headers.get('carillon-version') ?? '');
      return await readAnswer(response);
    } catch (error) {
      throw controller.signal.aborted ? controller.signal.reason : error;
    } finally {
      cancel();
      request.signal?.removeEventListener('abort', forward);
    }
  }

  private headersOf(request: ApiRequest): Record<string, string> {
    const headers: Record<string, string> = { ...request.headers };
    if (request.body !== undefined) headers['content-type'] = 'application/json';
    const { token, namespace, seen } = this.options;
    if (token !== null) headers['authorization'] = `Bearer ${token}`;
    if (namespace !== null) headers['carillon-namespace'] ??= namespace;
    if (request.method !== 'GET' && seen.text !== null) headers['carillon-seen'] ??= seen.text;
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

function urlOf(member: string, { path, query }: ApiRequest): string {
  const given = Object.entries(query ?? {}).filter(
    (pair): pair is [string, string] => pair[1] !== undefined,
  );
  return given.length === 0 ? member + path : `${member}${path}?${new URLSearchParams(given)}`;
}

async function readAnswer(response: Response): Promise<ApiAnswer> {
  const { status, headers } = response;
  const text = await response.text();
  const body = parseJson(text);
  if (status >= 200 && status < 300) return { status, headers, body: body ?? null };
  const problem = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : null;
  throw new ApiError(status, problem as Problem | null, retryAfterMs(headers));
}

/** undefined: not JSON. What is not JSON comes from something between, or is an empty body. */
function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function retryAfterMs(headers: Headers): number | null {
  const text = headers.get('retry-after') ?? '';
  return /^\d{1,9}$/.test(text) ? Number(text) * 1000 : null;
}

/** fetch hides what happened one level down. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && cause.message !== '') return cause.message;
  const code = (cause as { code?: unknown } | undefined)?.code;
  return typeof code === 'string' ? code : error.message;
}
