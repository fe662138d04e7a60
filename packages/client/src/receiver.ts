/**
 * A receiver for callbacks as a fetch-style function, `(Request) => Promise<Response>`: it checks the signature,
 * drops duplicates and hands each pop to one handler. Its answer decides how the cluster goes on: 2xx ends the pop,
 * 4xx and 5xx bring it again.
 */
import { byName, type NamedHandler } from './payload/handlers.ts';
import { PayloadError } from './payload/payload.ts';
import { type Pop, type PopHandler, popKey, popsOf } from './pop.ts';
import { BoundedPopMemory, type PopMemory } from './pop-memory.ts';
import { SignatureCheck } from './signature.ts';
import { type ClientSystem, system as realSystem } from './system.ts';
import { type Duration, durationMs } from './timer-spec.ts';

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

export interface NamedReceiverOptions extends ReceiverOptions {
  /** By the `name` that a timer was set with, as `handler` makes them. */
  readonly handlers: Readonly<Record<string, NamedHandler>>;
}

type Receiver = (request: Request) => Promise<Response>;

/** All pops go to one handler. */
export function receiver(handler: PopHandler, options?: ReceiverOptions): Receiver;
/** Pops of timers that were set with `data` go to the handler of their name. */
export function receiver(options: NamedReceiverOptions): Receiver;
export function receiver(
  given: PopHandler | NamedReceiverOptions,
  options: ReceiverOptions = {},
): Receiver {
  if (typeof given === 'function') return received(given, options);
  return received(byName(given.handlers), given);
}

function received(handler: PopHandler, options: ReceiverOptions): Receiver {
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
        return answerTo(error);
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

/** Data that does not fit never will: 410 makes the pop a dead letter, to be sent again behind a mended receiver. */
function answerTo(error: unknown): Response {
  if (error instanceof PayloadError) return answer(410, error.message);
  return answer(500, 'The pop could not be handled.');
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
