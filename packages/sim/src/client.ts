/**
 * A client as clients should be: asks any member, waits a while, asks another one when nothing came back, and knows
 * that no answer does not mean that nothing happened. Keeps the history that the checkers judge by.
 */
import type { SeededRandom } from '@carillon/core/testing';
import type { ApiRequest, ApiResponse } from '@carillon/server/internal';
import {
  type Attempt,
  type History,
  type Letter,
  type LetterOperation,
  type Operation,
  bodyOf,
  type TimerHistory,
  type TimerWish,
} from './history.ts';
import { wallTimingBody } from './wall-timing.ts';
import { headerOf, type SimCluster, versionIn } from './sim-cluster.ts';

const answerMs = 2500;
const attemptsMax = 8;
const backoffMsMax = 2000;

export interface SetHow {
  /** With an Idempotency-Key. */
  readonly keyed: boolean;
  /** Whether the set is sent as a batch. */
  readonly batched: boolean;
}

export interface ClientOptions {
  readonly cluster: SimCluster;
  readonly history: History;
  readonly random: SeededRandom;
  /** Members a client knows. */
  readonly contacts: () => readonly string[];
  /** An operation was acknowledged, this very moment. */
  readonly onAck: (operation: Operation) => void;
  /** An answer arrived that is neither a 2xx nor a reason to try again. */
  readonly onRefused: (operation: Operation, response: ApiResponse) => void;
}

export class Client {
  private readonly options: ClientOptions;

  constructor(options: ClientOptions) {
    this.options = options;
  }

  /** A new timer, or a new definition for one that exists. */
  async set(timer: TimerHistory, wish: TimerWish, how: SetHow): Promise<Operation> {
    const { history } = this.options;
    const isNew = timer.id === null;
    const operation = history.operation(timer, 'set', wish, how.keyed && isNew);
    const request = setRequest(operation, wish, this.options.cluster.world.nowMs);
    await this.change(operation, how.batched ? batchRequest(request) : request);
    return operation;
  }

  /** Cancels by id, or by tag when `byTag` is set and the timer has one; each tag belongs to one timer. */
  async cancel(timer: TimerHistory, byTag: boolean): Promise<Operation> {
    const operation = this.options.history.operation(timer, 'cancel', null, false);
    const request =
      byTag && timer.tag !== null
        ? { ...plain('DELETE', '/timers'), query: `tag=${timer.tag}` }
        : plain('DELETE', `/timers/${timer.id}`);
    await this.change(operation, request);
    return operation;
  }

  /** All dead letters as a member shows them; null when it does not. */
  async letters(member: string): Promise<Letter[] | null> {
    const letters: Letter[] = [];
    for (const namespace of this.options.history.namespaces) {
      const some = await this.lettersIn(namespace, member);
      if (some === null) return null;
      letters.push(...some);
    }
    return letters;
  }

  private async lettersIn(namespace: string, member: string): Promise<Letter[] | null> {
    const letters: Letter[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? 'limit=1000' : `limit=1000&cursor=${cursor}`;
      const request = inNamespace(plain('GET', '/dead-letters'), namespace);
      const response = await this.ask(member, { ...request, query });
      if (response?.status !== 200) return null;
      const page = JSON.parse(response.body) as LettersPage;
      for (const { id, callback, sequence, missed } of page['dead-letters']) {
        letters.push({ id, namespace, opaque: callback.http.opaque, sequence, missed });
      }
      ({ cursor } = page);
    } while (cursor !== null);
    return letters;
  }

  /** Sends a dead letter again, or discards it. A 404 is accepted: another request may have removed the letter. */
  async handle(letter: Letter, does: LetterOperation['does']): Promise<void> {
    const operation = this.options.history.letterOperation(letter, does);
    const path = `/dead-letters/${letter.id}`;
    const request = does === 'discard' ? plain('DELETE', path) : plain('POST', `${path}/redeliver`);
    const response = await this.insist(operation, inNamespace(request, letter.namespace));
    if (response?.status === 200) operation.ackMs = this.options.cluster.world.nowMs;
  }

  /** One request without insisting; null when no answer came. */
  ask(member: string, request: ApiRequest): Promise<ApiResponse | null> {
    const attempt: Attempt = {
      member,
      sentMs: this.options.cluster.world.nowMs,
      arrivedMs: null,
      settledMs: null,
      status: null,
    };
    return this.once(attempt, request);
  }

  private async change(operation: Operation, request: ApiRequest): Promise<void> {
    const { onAck, onRefused } = this.options;
    const { seen, namespace } = operation.timer;
    const headers = { ...request.headers, ...seen.headers };
    const response = await this.insist(operation, inNamespace({ ...request, headers }, namespace));
    for (const { status, version = null } of operation.attempts) {
      if (status !== null && version !== null) seen.add(version);
    }
    if (response === null) return;
    if (response.status >= 300) return onRefused(operation, response);
    this.acknowledge(operation, response);
    onAck(operation);
  }

  /** The answer, once there is one that is no reason to try again; null when the client gave up. */
  private async insist(operation: Attempted, request: ApiRequest): Promise<ApiResponse | null> {
    const { cluster, random } = this.options;
    for (let i = 0; i < attemptsMax; i++) {
      if (i > 0) await cluster.world.sleep(random.unit() * Math.min(backoffMsMax, 100 * 2 ** i));
      const attempt = this.attempt(operation);
      const answer = await this.once(attempt, request);
      const response = answer === null ? null : unbatched(answer);
      if (response !== null && response.status < 429) return response;
    }
    return null;
  }

  private attempt(operation: Attempted): Attempt {
    const { cluster, random, contacts } = this.options;
    const attempt: Attempt = {
      member: random.pick(contacts()),
      sentMs: cluster.world.nowMs,
      arrivedMs: null,
      settledMs: null,
      status: null,
    };
    operation.attempts.push(attempt);
    return attempt;
  }

  private once(attempt: Attempt, request: ApiRequest): Promise<ApiResponse | null> {
    const { cluster } = this.options;
    return new Promise((resolve) => {
      const timeout = cluster.world.after(answerMs, () => resolve(null));
      cluster.send(attempt, request, (response) => {
        timeout.fn = null;
        attempt.status = response?.status ?? null;
        resolve(response);
      });
    });
  }

  private acknowledge(operation: Operation, response: ApiResponse): void {
    operation.ackMs = this.options.cluster.world.nowMs;
    operation.version = versionIn(response);
    const location = headerOf(response, 'location');
    if (location !== null) operation.timer.id = location.slice('/timers/'.length);
    const [have = '0', wanted = '0'] = (headerOf(response, 'carillon-copies') ?? '').split('/');
    operation.have = Number(have);
    operation.wanted = Number(wanted);
  }
}

type Attempted = Pick<Operation, 'attempts'>;

interface LettersPage {
  readonly 'dead-letters': readonly {
    readonly id: string;
    readonly callback: { readonly http: { readonly opaque: string } };
    readonly sequence: number;
    readonly missed: number;
  }[];
  readonly cursor: string | null;
}

/** Without headers or a body. */
function plain(method: string, path: string): ApiRequest {
  return { method, path, query: '', headers: {}, body: new Uint8Array() };
}

export function inNamespace(request: ApiRequest, namespace: string): ApiRequest {
  if (namespace === 'default') return request;
  return { ...request, headers: { ...request.headers, 'carillon-namespace': namespace } };
}

/** The same set or replace as a batch of one: a timer by itself, or with a key or an id a change by its name. */
function batchRequest(request: ApiRequest): ApiRequest {
  const timer = Buffer.from(request.body).toString();
  const { 'idempotency-key': key, ...headers } = request.headers;
  const id = request.path.slice('/timers/'.length);
  let item = timer;
  if (key !== undefined) item = `{"change":"set","key":${JSON.stringify(key)},"timer":${timer}}`;
  else if (request.method === 'PUT') item = `{"change":"replace","id":"${id}","timer":${timer}}`;
  return {
    ...request,
    method: 'POST',
    path: '/timers/batch',
    headers,
    body: Buffer.from(`[${item}]`),
  };
}

/** The answer to a batch of one as the answer to its only item; any other answer as it is. */
function unbatched(response: ApiResponse): ApiResponse {
  if (response.status !== 200 || !response.body.startsWith('[')) return response;
  const [item] = JSON.parse(response.body) as BatchItem[];
  if (item === undefined || item.id === undefined) {
    return { ...response, status: item?.status ?? 500 };
  }
  const headers = ['location', `/timers/${item.id}`, 'carillon-copies', item.copies ?? ''];
  headers.push('carillon-version', item.version ?? '');
  return { status: item.status, headers, body: '' };
}

interface BatchItem {
  readonly status: number;
  readonly id?: string;
  readonly copies?: string;
  readonly version?: string;
}

function timingBody(wish: TimerWish, nowMs: number): object {
  const { intervalMs, count, wall } = wish;
  if (wall !== undefined) return wallTimingBody({ ...wish, wall }, nowMs);
  const interval = intervalMs / 1000;
  if (wish.forever === true) return { interval, forever: true };
  // Half an interval more than the pops need: no doubt about rounding.
  return count > 1 ? { interval, 'repeat-for': interval * (count + 0.5) } : { interval };
}

function setRequest(operation: Operation, wish: TimerWish, nowMs: number): ApiRequest {
  const { timer, keyed } = operation;
  const { factor, receiver, batch = false, retry } = wish;
  const body = {
    timing: timingBody(wish, nowMs),
    callback: {
      http: { uri: `http://${receiver}/pop`, opaque: bodyOf(operation), ...(batch && { batch }) },
      ...(retry !== undefined && { retry }),
    },
    reliability: { 'replication-factor': factor },
    ...(timer.tag !== null && { tags: [timer.tag] }),
  };
  const isNew = timer.id === null;
  return {
    method: isNew ? 'POST' : 'PUT',
    path: isNew ? '/timers' : `/timers/${timer.id}`,
    query: '',
    headers: keyed ? { 'idempotency-key': `timer-${timer.index}` } : {},
    body: Buffer.from(JSON.stringify(body)),
  };
}
