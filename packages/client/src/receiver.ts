/**
 * A receiver for callbacks as a fetch-style function, `(Request) => Promise<Response>`: it checks the signature,
 * drops duplicates and hands each pop to one handler. Its answer decides how the cluster goes on: 2xx ends the pop,
 * 4xx and 5xx bring it again.
 */
import { namesOf, refuseUnknown, refuseUnless } from '@carillon/core';
import { eventOf, type TimerEvent } from './event.ts';
import { byName, type NamedHandler } from './payload/handlers.ts';
import { PayloadError } from './payload/payload.ts';
import { piecesOf, type Plain, type PlainCall, type Receive, type TooLong } from './plain.ts';
import { type TracedPop, type Pop, type PopHandler, popsOf } from './pop.ts';
import { BoundedPopMemory, type PopMemory } from './pop-memory.ts';
import { SignatureCheck } from './signature.ts';
import { type ClientSystem, system as realSystem } from './system.ts';
import { type Duration, durationMs } from './timer-spec.ts';
import { inSpan } from './tracing.ts';

export interface ReceiverOptions {
  /** One or, while they are being changed, two. Without: callbacks are taken unsigned. */
  readonly secret?: string | readonly string[];
  /** How far the time of a signed callback may be off; default 5 minutes. */
  readonly tolerance?: Duration;
  /** Default: the newest 100,000 pops of this process. */
  readonly memory?: PopMemory;
  /** Longest body that is read; default 16 MiB. */
  readonly bodyBytesMax?: number;
  /** Most pops that come in one request, 1 to 999,999; default 500. 1: each comes by itself. */
  readonly batchCountMax?: number;
  /** Takes the events of the cluster; without it they go to the handler of pops, as any callback does. */
  readonly onEvent?: (event: TimerEvent, pop: Pop) => void | Promise<void>;
  /** Called with the error that the handler threw; the answer never carries it. */
  readonly onError?: (error: unknown, pop: Pop) => void;
  /** Clock; for tests. */
  readonly system?: ClientSystem;
}

export interface NamedReceiverOptions extends ReceiverOptions {
  /** By the `name` that a timer was set with, as `handler` makes them. */
  readonly handlers: Readonly<Record<string, NamedHandler>>;
}

/** All pops go to one handler. */
export function receiver(handler: PopHandler, options?: ReceiverOptions): Receive;
/** Pops of timers that were set with `data` go to the handler of their name. */
export function receiver(options: NamedReceiverOptions): Receive;
export function receiver(
  given: PopHandler | NamedReceiverOptions,
  options: ReceiverOptions = {},
): Receive {
  const plain =
    typeof given === 'function' ? plainReceiver(given, options, optionNames) : namedReceiver(given);
  const receive = async (request: Request): Promise<Response> => {
    const { headers: sent } = request;
    const call = { header: (name: string) => sent.get(name), headers: () => sent };
    const read = await readBody(request, plain.bodyBytesMax);
    const answer = await plain.answer(read === null ? { body: null } : { ...call, body: read });
    const { status, headers, body } = answer;
    return new Response(body, { status, headers });
  };
  return Object.assign(receive, { plain });
}

const optionNames = namesOf<ReceiverOptions>({
  secret: 1,
  tolerance: 1,
  memory: 1,
  bodyBytesMax: 1,
  batchCountMax: 1,
  onEvent: 1,
  onError: 1,
  system: 1,
});

function namedReceiver(given: NamedReceiverOptions): Plain {
  const isObject = typeof given === 'object' && given !== null;
  const right = 'a function that handles pops, or an object with handlers';
  refuseUnless(isObject, 'The argument of receiver', right, given);
  return plainReceiver(byName(given.handlers), given, ['handlers', ...optionNames]);
}

function plainReceiver(
  handler: PopHandler,
  options: ReceiverOptions,
  names: readonly string[],
): Plain {
  checkReceiver(options, names);
  const { bodyBytesMax = 16 * 1024 * 1024, batchCountMax = 500 } = options;
  const { secret, memory = new BoundedPopMemory(), system = realSystem } = options;
  const secrets = secret === undefined ? [] : [secret].flat();
  const toleranceMs = durationMs('tolerance', options.tolerance ?? 300_000);
  const check = secret === undefined ? null : new SignatureCheck(secrets, toleranceMs);
  const usual = {
    'content-type': 'text/plain',
    'x-timer-batch': String(batchCountMax),
  };
  const { onEvent } = options;
  const handled: PopHandler = (pop) => {
    const event = onEvent === undefined ? null : eventOf(pop);
    return event === null ? handler(pop) : onEvent?.(event, pop);
  };
  // Waits only for promises: most memories and many handlers have none, and a wait costs as much as the rest of a pop.
  const handle = async ({ pop, traces }: TracedPop): Promise<Verdict> => {
    try {
      const begun = memory.begin(pop.key);
      const state = typeof begun === 'string' ? begun : await begun;
      if (state === 'handled') return { status: 200, body: 'Handled before.' };
      if (state === 'busy') return busy;
      try {
        const running = inSpan(pop, traces, () => handled(pop));
        if (running !== undefined) await running;
      } catch (error) {
        await memory.failed(pop.key);
        throw error;
      }
      const keeping = memory.handled(pop.key);
      if (keeping !== undefined) await keeping;
      return ok;
    } catch (error) {
      options.onError?.(error, pop);
      // Data that does not fit never will: 410 makes the pop a dead letter, to be sent again behind a mended receiver.
      if (error instanceof PayloadError) return { status: 410, body: error.message };
      return { status: 500, body: 'The pop could not be handled.' };
    }
  };
  const judge = async (call: PlainCall | TooLong): Promise<Verdict> => {
    if (call.body === null) return { status: 413, body: 'The body is too long for this receiver.' };
    const refusal = check === null ? null : await check.refuse(call, system.wall());
    if (refusal !== null) return { status: 401, body: refusal };
    const pops = popsOf(call);
    const [first] = pops;
    if (first === undefined) return { status: 400, body: 'This is no callback of a timer.' };
    return pops.length === 1 ? handle(first) : verdictOnAll(await Promise.all(pops.map(handle)));
  };
  return {
    bodyBytesMax,
    answer: async (call) => {
      const verdict = await judge(call);
      return { ...verdict, headers: { ...usual, ...verdict.headers } };
    },
  };
}

/** Throws TypeError. */
function checkReceiver(options: ReceiverOptions, names: readonly string[]): void {
  refuseUnknown(options, 'receiver', names);
  for (const name of ['onEvent', 'onError'] as const) {
    const given = options[name];
    refuseUnless(given === undefined || typeof given === 'function', name, 'a function', given);
  }
  const { bodyBytesMax: length = 1, batchCountMax: count = 1, memory } = options;
  const isLength = typeof length === 'number' && length >= 1;
  refuseUnless(isLength, 'bodyBytesMax', 'a number from 1 on', length);
  // Members read up to six digits in `X-Timer-Batch`, and ignore all else.
  const isCount = Number.isInteger(count) && count >= 1 && count <= 999_999;
  refuseUnless(isCount, 'batchCountMax', 'a whole number from 1 to 999999', count);
  const remembers = (['begin', 'handled', 'failed'] as const).every(
    (name) => typeof (memory as Partial<PopMemory> | null)?.[name] === 'function',
  );
  const right = 'one with begin, handled and failed';
  refuseUnless(memory === undefined || remembers, 'memory', right, memory);
}

interface Verdict {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const ok: Verdict = { status: 200, body: 'OK' };
const busy: Verdict = {
  status: 503,
  body: 'This pop is being handled right now.',
  headers: { 'retry-after': '1' },
};

/**
 * The worst one, and which of the pops failed: a member of an older release lets all of them come again, and pops that
 * were handled are remembered.
 */
function verdictOnAll(verdicts: readonly Verdict[]): Verdict {
  const worst = verdicts.reduce((worse, next) => (next.status > worse.status ? next : worse));
  if (worst.status < 300) return worst;
  const failed = verdicts.flatMap(({ status }, line) => (status < 300 ? [] : [line]));
  return { ...worst, headers: { ...worst.headers, 'x-timer-failed': failed.join(',') } };
}

/** null: longer than allowed; the rest is not read. */
async function readBody(request: Request, bytesMax: number): Promise<Uint8Array | null> {
  const pieces = piecesOf(bytesMax);
  if (request.body === null) return pieces.whole();
  const reader = request.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return pieces.whole();
    if (pieces.add(value)) continue;
    await reader.cancel();
    return null;
  }
}
