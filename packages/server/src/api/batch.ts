/**
 * `POST /timers/batch`: many sets in one request, as a JSON array or as NDJSON (by content type). One outcome per item
 * and in order, in the form of the request; a bad item does not spoil the rest. An idempotency key covers the whole
 * batch: each item gets one derived from it and from its position.
 */
import { CarillonError, formatVersion } from '@carillon/core';
import type { Caller } from '../access/access.ts';
import { parseJson, parseLines } from './json.ts';
import { type ApiRequest, type ApiResponse, headerOf } from './message.ts';
import { badRequest, problemOf } from './problem.ts';
import type { Route } from './router.ts';
import type { SetOutcome, SetRequest } from './service.ts';
import { copiesText, idempotencyKeyOf, refuseEncoded, type TimersOptions } from './timers.ts';

export interface BatchOptions extends TimersOptions {
  /** Counts the timers of a batch as requests of their own. */
  readonly charge: (caller: Caller, cost: number) => void;
}

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
  const items = itemsOf(request, ndjson, options);
  options.charge(caller, Math.max(0, items.length - 1));
  const key = idempotencyKeyOf(request);
  const parsed = parseItems(items, { key, namespace: caller.namespace }, options);
  // Only this much is kept while the disk works: the parsed bodies of a large batch are large.
  const refusals = parsed.map((item) => (item instanceof CarillonError ? item : null));
  const requests = parsed.filter((item): item is SetRequest => !(item instanceof CarillonError));
  if (requests.length === 0) return batchResponse(refusals, [], ndjson);
  const outcomes = options.service.setMany(requests);
  return outcomes.then((all) => batchResponse(refusals, all, ndjson));
}

function batchResponse(
  refusals: readonly (CarillonError | null)[],
  outcomes: readonly SetOutcome[],
  ndjson: boolean,
): ApiResponse {
  let next = 0;
  const lines = refusals.map((refusal) => {
    if (refusal !== null) return JSON.stringify(problemOf(refusal));
    return outcomeText(outcomes[next++] as SetOutcome);
  });
  if (!ndjson) return { status: 200, headers: jsonHeaders, body: `[${lines.join(',\n')}]` };
  return { status: 200, headers: ndjsonHeaders, body: lines.map((line) => `${line}\n`).join('') };
}

const jsonHeaders = ['content-type', 'application/json; charset=utf-8'];
const ndjsonHeaders = ['content-type', 'application/x-ndjson'];

/** Throws CarillonError. Each item is still to be read: only a whole array is parsed at once. */
function itemsOf(request: ApiRequest, ndjson: boolean, { limits }: TimersOptions): unknown[] {
  const { jsonDepthMax, batchItemCountMax } = limits;
  // The array around the items is a level of its own.
  const items = ndjson
    ? parseLines(request.body, jsonDepthMax)
    : parseJson(request.body, jsonDepthMax + 1);
  if (!Array.isArray(items)) {
    throw badRequest('The body must be an array of timers, or NDJSON with its content type.', '');
  }
  if (items.length > batchItemCountMax) {
    throw new CarillonError('too_large', `A batch has at most ${batchItemCountMax} timers.`);
  }
  return items;
}

function parseItems(
  items: readonly unknown[],
  { key, namespace }: { readonly key: string | null; readonly namespace: string },
  { parser, wall }: TimersOptions,
): (SetRequest | CarillonError)[] {
  const options = { wallMs: wall(), factor: null, idempotent: key !== null };
  return items.map((item, i) => {
    try {
      const value: unknown = typeof item === 'function' ? item() : item;
      const { definition, factor } = parser.parse(value, options);
      const idempotencyKey = key === null ? null : `${key}/${i}`;
      return { namespace, id: null, definition, factor, idempotencyKey };
    } catch (error) {
      if (error instanceof CarillonError) return error;
      throw error;
    }
  });
}

/** Ids, counts and versions need no escaping. */
function outcomeText(outcome: SetOutcome): string {
  if (!outcome.ok) return JSON.stringify(problemOf(outcome.error));
  const { id, copies, version } = outcome;
  return `{"status":200,"id":"${id}","copies":"${copiesText(copies)}","version":"${formatVersion(version)}"}`;
}
