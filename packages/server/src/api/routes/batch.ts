/**
 * `POST /timers/batch`: many sets in one request, as a JSON array or as NDJSON (by content type). One outcome per item
 * and in order, in the form of the request; a bad item does not spoil the rest. An idempotency key covers the whole
 * batch: each item gets one derived from it and from its position.
 */
import { CarillonError, formatVersion } from '@carillon/core';
import type { Caller } from '../../access/access.ts';
import { arrayItems, lineItems } from '../batch-items.ts';
import { parseJson } from '../json.ts';
import { type LongWork, type Steps, stintCostMax } from '../long-work.ts';
import { type ApiRequest, type ApiResponse, headerOf } from '../../http/message.ts';
import type { ParsedTimer } from '../parse-timer.ts';
import { problemOf } from '../../http/problem.ts';
import type { Route } from '../router.ts';
import type { SetOutcome, SetRequest } from '../../request/service.ts';
import { copiesText, idempotencyKeyOf, refuseEncoded, type TimersOptions } from './timers.ts';

export interface BatchOptions extends TimersOptions {
  /** Counts the timers of a batch as requests of their own. */
  readonly charge: (caller: Caller, cost: number) => void;
  readonly work: Pick<LongWork, 'run'>;
}

/** Timers that are set between two turns, and what each costs. */
const setCount = 50;
const setCost = 20;
const lineCost = 5;

export function batchRoutes(options: BatchOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/timers/batch',
      needs: 'write',
      handle: (request, _, caller) => batch(request, caller, options),
      bodyBytesMax: options.limits.batchBodyBytesMax,
    },
  ];
}

function batch(
  request: ApiRequest,
  caller: Caller,
  options: BatchOptions,
): ApiResponse | Promise<ApiResponse> {
  refuseEncoded(request);
  const ndjson = /^application\/(x-ndjson|ndjson|jsonl|x-jsonlines)\b/i.test(
    headerOf(request, 'content-type') ?? '',
  );
  const key = idempotencyKeyOf(request);
  const asked = { body: request.body, ndjson, key, caller };
  const begun = options.work.run(begin(asked, options));
  if (!(begun instanceof Promise) && begun.outcomes.length === 0)
    return options.work.run(batchResponse(begun.refusals, [], ndjson));
  return answered(begun, asked, options);
}

interface Asked {
  readonly body: Uint8Array;
  readonly ndjson: boolean;
  readonly key: string | null;
  readonly caller: Caller;
}

interface Begun {
  /** In the place of each item that was refused before it was set. */
  readonly refusals: readonly (CarillonError | null)[];
  readonly outcomes: readonly Promise<readonly SetOutcome[]>[];
}

async function answered(
  begun: Begun | Promise<Begun>,
  { ndjson }: Asked,
  { work }: BatchOptions,
): Promise<ApiResponse> {
  const { refusals, outcomes } = await begun;
  const all = (await Promise.all(outcomes)).flat();
  return work.run(batchResponse(refusals, all, ndjson));
}

/** Reads all items, then sets what they ask for. Throws CarillonError for what is wrong with the whole. */
function* begin(asked: Asked, options: BatchOptions): Steps<Begun> {
  const { body, ndjson, caller } = asked;
  const items = yield* (ndjson ? lineItems : arrayItems)(body, options.limits);
  options.charge(caller, Math.max(0, items.length - 1));
  const parsed = yield* parseItems(items, asked, options);
  // Only this much is kept while the disk works: the parsed bodies of a large batch are large.
  const refusals = parsed.map((item) => (item instanceof CarillonError ? item : null));
  const requests = parsed.filter((item): item is SetRequest => !(item instanceof CarillonError));
  const outcomes: Promise<readonly SetOutcome[]>[] = [];
  for (let from = 0; from < requests.length; from += setCount) {
    const slice = requests.slice(from, from + setCount);
    outcomes.push(options.service.setMany(slice));
    yield slice.length * setCost;
  }
  return { refusals, outcomes };
}

function* batchResponse(
  refusals: readonly (CarillonError | null)[],
  outcomes: readonly SetOutcome[],
  ndjson: boolean,
): Steps<ApiResponse> {
  const lines: string[] = [];
  let next = 0;
  for (const refusal of refusals) {
    lines.push(
      refusal === null
        ? outcomeText(outcomes[next++] as SetOutcome)
        : JSON.stringify(problemOf(refusal)),
    );
    yield lineCost;
  }
  if (!ndjson) return { status: 200, headers: jsonHeaders, body: `[${lines.join(',\n')}]` };
  return { status: 200, headers: ndjsonHeaders, body: lines.map((line) => `${line}\n`).join('') };
}

const jsonHeaders = ['content-type', 'application/json; charset=utf-8'];
const ndjsonHeaders = ['content-type', 'application/x-ndjson'];

/** An item of an array that is no JSON spoils the whole, a line by itself does not. */
function* parseItems(
  items: readonly Uint8Array[],
  { key, ndjson, caller }: Asked,
  { parser, wall, limits }: BatchOptions,
): Steps<(SetRequest | CarillonError)[]> {
  const { namespace } = caller;
  const rules = { wallMs: wall(), factor: null, idempotent: key !== null };
  const parsed: (SetRequest | CarillonError)[] = [];
  for (const [i, item] of items.entries()) {
    const value = readItem(item, limits.jsonDepthMax);
    if (value instanceof CarillonError && !ndjson) throw value;
    const timer = value instanceof CarillonError ? value : parser.tryParse(value.json, rules);
    // No key of a single set has a line feed in it.
    const idempotencyKey = key === null ? null : `${key}\n${i}`;
    parsed.push(
      timer instanceof CarillonError ? timer : { namespace, id: null, ...timer, idempotencyKey },
    );
    yield itemCost(item, timer);
  }
  return parsed;
}

function readItem(item: Uint8Array, depthMax: number): { readonly json: unknown } | CarillonError {
  try {
    return { json: parseJson(item, depthMax) };
  } catch (error) {
    if (error instanceof CarillonError) return error;
    throw error;
  }
}

/** A cron pattern may be looked up for years ahead; an error costs more than a timer. */
function itemCost(item: Uint8Array, timer: ParsedTimer | CarillonError): number {
  const readCost = 20 + (item.length >> 7);
  if (timer instanceof CarillonError)
    return readCost + (timer.pointer === '/timing/cron' ? stintCostMax : 40);
  return readCost + (timer.definition.timing.kind === 'cron' ? 400 : 0);
}

/** Ids, counts and versions need no escaping. */
function outcomeText(outcome: SetOutcome): string {
  if (!outcome.ok) return JSON.stringify(problemOf(outcome.error));
  const { id, copies, version } = outcome;
  return `{"status":200,"id":"${id}","copies":"${copiesText(copies)}","version":"${formatVersion(version)}"}`;
}
