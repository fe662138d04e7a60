/**
 * A receiver for callbacks as a fetch-style function, `(Request) => Promise<Response>`: it checks the signature,
 * drops duplicates and hands each pop to one handler. Its answer decides how the cluster goes on: 2xx ends the pop,
 * 4xx and 5xx bring it again.
 */
import { BoundedPopMemory, type PopMemory } from './pop-memory.ts';
import { SignatureCheck } from './signature.ts';
import { type ClientSystem, system as realSystem } from './system.ts';
import { type Duration, durationMs } from './timer-spec.ts';

/** One pop, as the receiver sees it. */
export interface Pop {
  readonly id: string;
  /** 1 for the first pop after set or replace. */
  readonly sequence: number;
  /** 1 for the first try of this pop. */
  readonly attempt: number;
  /** Pops left out since the last one, because no member could make them in time. */
  readonly missed: number;
  readonly due: Date | null;
  /** The opaque text that the timer was set with. */
  readonly opaque: string;
  readonly headers: Headers;
}

/** Returning means handled. Throwing means not handled: the cluster tries again. */
export type PopHandler = (pop: Pop) => void | Promise<void>;

export interface ReceiverOptions {
  /** One or, while they are being changed, two. Without: callbacks are taken unsigned. */
  readonly secret?: string | readonly string[];
  /** How far the time of a signed callback may be off; default 5 minutes. */
  readonly tolerance?: Duration;
  /** Default: the newest 100,000 pops of this process. */
  readonly memory?: PopMemory;
  /** Longest body that is read; default 16 MiB. */
  readonly bodyBytesMax?: number;
  /** Most pops that come in one request; default 500. 1: each comes by itself. */
  readonly batchCountMax?: number;
  /** Called with the error that the handler threw; the answer never carries it. */
  readonly onError?: (error: unknown, pop: Pop) => void;
  /** Clock; for tests. */
  readonly system?: ClientSystem;
}

export function receiver(
  handler: PopHandler,
  options: ReceiverOptions = {},
): (request: Request) => Promise<Response> {
  const { secret, memory = new BoundedPopMemory(), system = realSystem } = options;
  const secrets = secret === undefined ? [] : [secret].flat();
  const toleranceMs = durationMs('tolerance', options.tolerance ?? 300_000);
  const check = secret === undefined ? null : new SignatureCheck(secrets, toleranceMs);
  const batchCountMax = String(options.batchCountMax ?? 500);

  const receive = async (request: Request): Promise<Response> => {
    const body = await readBody(request, options.bodyBytesMax ?? 16 * 1024 * 1024);
    if (body === null) return answer(413, 'The body is too long for this receiver.');
    const { headers } = request;
    const refusal = await check?.refuse(
      {
        id: headers.get('webhook-id'),
        timestamp: headers.get('webhook-timestamp'),
        signature: headers.get('webhook-signature'),
        body,
      },
      system.wall(),
    );
    if (typeof refusal === 'string') return answer(401, refusal);
    const pops = popsOf(headers, body);
    if (pops.length === 0) return answer(400, 'This is no callback of a timer.');
    const handle = async (pop: Pop): Promise<Response> => {
      try {
        return await handleOnce(pop, handler, memory);
      } catch (error) {
        options.onError?.(error, pop);
        return answer(500, 'The pop could not be handled.');
      }
    };
    return answerToAll(await Promise.all(pops.map(handle)));
  };
  return async (request) => {
    const response = await receive(request);
    response.headers.set('x-timer-batch', batchCountMax);
    return response;
  };
}

/**
 * The worst answer, and where there were several pops, which of them failed: a member of an older release lets all of them come
 * again, and pops that were handled are remembered.
 */
function answerToAll(answers: readonly Response[]): Response {
  const worst = answers.reduce((worse, next) => (next.status > worse.status ? next : worse));
  if (answers.length < 2 || worst.status < 300) return worst;
  const failed = answers.flatMap(({ status }, line) => (status < 300 ? [] : [line]));
  worst.headers.set('x-timer-failed', failed.join(','));
  return worst;
}

async function handleOnce(pop: Pop, handler: PopHandler, memory: PopMemory): Promise<Response> {
  const key = popKey(pop);
  const state = await memory.begin(key);
  if (state === 'handled') return answer(200, 'Handled before.');
  if (state === 'busy') {
    return answer(503, 'This pop is being handled right now.', { 'retry-after': '1' });
  }
  try {
    await handler(pop);
  } catch (error) {
    await memory.failed(key);
    throw error;
  }
  await memory.handled(key);
  return answer(200, 'OK');
}

/**
 * The same for every attempt and every replica. `webhook-id` says it outright. Without one: the timer's number, its
 * version, and the sequence. A version that is not named is told by its due time; then a duplicate from another
 * member may pass, but no pop of a replaced timer is taken for one of the old.
 */
function popKey({ id, sequence, due, headers }: Pop): string {
  const given = headers.get('webhook-id');
  if (given !== null) return given;
  const version = headers.get('x-timer-version') ?? due?.toISOString() ?? '';
  // As in `webhook-id`: a pop that came together with others may come again by itself.
  return `${id.slice(0, 16)}_${version.replace('.', '_')}_${sequence}`;
}

/** The pops of a callback, several in a batch; none: it is no callback. */
function popsOf(headers: Headers, body: Uint8Array): Pop[] {
  if (headers.has('x-timer-count')) return batchedPops(headers, body);
  const pop = popOf(headers, body);
  return pop === null ? [] : [pop];
}

/** One broken line makes all of it nothing: it did not come from a member. */
function batchedPops(common: Headers, body: Uint8Array): Pop[] {
  try {
    const lines = new TextDecoder().decode(body).split('\n');
    return lines.filter((line) => line !== '').map((line) => batchedPop(JSON.parse(line), common));
  } catch {
    return [];
  }
}

interface BatchLine {
  readonly id: string;
  readonly sequence: number;
  readonly due: string;
  readonly version: string;
  readonly attempt: number;
  readonly missed?: number;
  readonly opaque: string;
}

/** As it would have come by itself. The signature was that of the batch, and is checked. */
function batchedPop(line: BatchLine, common: Headers): Pop {
  const headers = new Headers(common);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-timer-count']) {
    headers.delete(name);
  }
  headers.set('x-timer-id', line.id);
  headers.set('x-sequence-number', String(line.sequence));
  headers.set('x-timer-due', line.due);
  headers.set('x-timer-version', line.version);
  headers.set('x-timer-attempt', String(line.attempt));
  headers.set('x-timer-missed', String(line.missed ?? 0));
  const pop = popOf(headers, new TextEncoder().encode(line.opaque));
  if (pop === null || typeof line.id !== 'string') throw new Error('A line names no timer.');
  return pop;
}

function popOf(headers: Headers, body: Uint8Array): Pop | null {
  const id = headers.get('x-timer-id');
  if (id === null) return null;
  const due = new Date(headers.get('x-timer-due') ?? '');
  return {
    id,
    sequence: wholeOf(headers, 'x-sequence-number', 1),
    attempt: wholeOf(headers, 'x-timer-attempt', 1),
    missed: wholeOf(headers, 'x-timer-missed', 0),
    due: Number.isNaN(due.getTime()) ? null : due,
    opaque: new TextDecoder().decode(body),
    headers,
  };
}

function wholeOf(headers: Headers, name: string, otherwise: number): number {
  const text = headers.get(name) ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : otherwise;
}

/** null: longer than allowed; the rest is not read. */
async function readBody(request: Request, bytesMax: number): Promise<Uint8Array | null> {
  if (request.body === null) return new Uint8Array(0);
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > bytesMax) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

function answer(status: number, text: string, headers: Record<string, string> = {}): Response {
  return new Response(text, { status, headers: { 'content-type': 'text/plain', ...headers } });
}
