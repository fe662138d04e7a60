/**
 * `POST /timers/batch`: many changes in one request, as a JSON array or as NDJSON (by content type). One outcome per
 * item and in order, in the form of the request; a bad item does not spoil the rest. An idempotency key of the request
 * covers the whole batch: each set without a key of its own gets one derived from it and from its position.
 *
 * B1  Changes of one timer are made in their order: each begins when the one before it has its outcome.
 */
import { CarillonError, formatVersion } from '@carillon/core';
import type { Caller } from '../../access/access.ts';
import { type BatchChange, changeOf, inItem, timerOf, unknownIn } from '../batch-change.ts';
import { BatchJson } from '../batch-json.ts';
import { arrayItems, type BatchItem, lineItems } from '../batch-items.ts';
import { type LongWork, type Steps, stintCostMax } from '../long-work.ts';
import { type ApiRequest, type ApiResponse, headerOf } from '../../http/message.ts';
import { problemOf, retryAfterOf } from '../../http/problem.ts';
import { factorUnsaid, findId, hasFactor } from '../request-id.ts';
import type { Route } from '../router.ts';
import { type UnknownMember, warningHeaders } from '../unknown-members.ts';
import type { Changed, SetRequest } from '../../request/service.ts';
import {
  copiesText,
  idempotencyKeyOf,
  refuseEncoded,
  type TimersOptions,
  traceOf,
} from './timers.ts';

export interface BatchOptions extends TimersOptions {
  /** Counts the changes of a batch as requests of their own. */
  readonly charge: (caller: Caller, cost: number) => void;
  readonly work: Pick<LongWork, 'run'>;
}

/**
 * Changes that are begun in one step, and the cost of each. In each turn of the event loop the journal syncs what has
 * been begun: more turns would be more syncs.
 */
const beginCount = 100;
const beginCost = 5;
const lineCost = 1;
const linesInStep = 20;
/** Cheaper steps are taken together. */
const stepCostMin = 100;

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

interface Asked {
  readonly body: Uint8Array;
  readonly ndjson: boolean;
  readonly key: string | null;
  readonly trace: string | null;
  readonly caller: Caller;
}

type Outcome =
  | ({ readonly ok: true } & Changed)
  | { readonly ok: false; readonly error: CarillonError };

interface Placed {
  readonly index: number;
  readonly change: BatchChange;
}

/** No two changes of one timer are in it. */
type Round = readonly Placed[];

interface Read {
  readonly rounds: Round[];
  /** One for each item; outcomes of refused items are there already. */
  readonly outcomes: (Outcome | undefined)[];
  /** Headers that tell of members without effect, of the first item that has some. */
  readonly warnings: readonly string[];
}

async function batch(
  request: ApiRequest,
  caller: Caller,
  options: BatchOptions,
): Promise<ApiResponse> {
  refuseEncoded(request);
  const ndjson = /^application\/(x-ndjson|ndjson|jsonl|x-jsonlines)\b/i.test(
    headerOf(request, 'content-type') ?? '',
  );
  const key = idempotencyKeyOf(request);
  const asked = { body: request.body, ndjson, key, trace: traceOf(request), caller };
  const { rounds, outcomes, warnings } = await options.work.run(read(asked, options));
  const making = { outcomes, caller, options };
  for (let made = 0; rounds.length > 0; made++) await nextRound(rounds, made, making);
  const answer = await options.work.run(batchResponse(outcomes as Outcome[], ndjson));
  return { ...answer, headers: [...answer.headers, ...warnings] };
}

/**
 * Throws CarillonError for a fault of the whole batch: an item of an array that is no JSON is one, such a line alone is
 * not.
 */
function* read(asked: Asked, options: BatchOptions): Steps<Read> {
  const { body, ndjson, caller, key, trace } = asked;
  const { parser, wall, limits, strict } = options;
  const { namespace } = caller;
  // Named one by one: copying all limits costs as much as two timers.
  const { batchItemCountMax, bodyBytesMax, jsonDepthMax } = limits;
  // An object that names its change has the timer one level deeper.
  const itemLimits = { batchItemCountMax, bodyBytesMax, jsonDepthMax: jsonDepthMax + 1 };
  const items = yield* (ndjson ? lineItems : arrayItems)(body, itemLimits);
  options.charge(caller, Math.max(0, items.length - 1));
  const actor = caller.name ?? '';
  const rules = { parser, namespace, actor, wallMs: wall(), strict: strict(namespace), trace };
  const rounds = new Rounds();
  const outcomes: (Outcome | undefined)[] = [];
  const unknown: UnknownMember[] = [];
  const json = new BatchJson({ body, items, isArray: !ndjson, depthMax: jsonDepthMax });
  let cost = 0;
  let seenForm: BatchItem['form'] = null;
  for (let index = 0; index < items.length; index++) {
    const value = tried(jsonAt, json, index);
    if (value instanceof CarillonError && !ndjson) throw value;
    // No key that a client gives has a line feed in it.
    const derivedKey = key === null ? null : `${key}\n${index}`;
    const change =
      value instanceof CarillonError ? value : tried(changeOf, value, derivedKey, rules);
    if (change instanceof CarillonError) outcomes.push({ ok: false, error: change });
    else {
      outcomes.push(undefined);
      rounds.add({ index, change });
      // Items of one form have the same names.
      const { form } = items[index] as BatchItem;
      if (unknown.length === 0 && (form === null || form !== seenForm)) {
        unknown.push(...unknownIn(value, change, index));
        seenForm = form;
      }
    }
    cost += itemCost(items[index] as BatchItem, change);
    if (cost < stepCostMin) continue;
    yield cost;
    cost = 0;
  }
  return { rounds: rounds.all, outcomes, warnings: warningHeaders(unknown) };
}

/** Puts each change of a timer into the round behind the change before it; timers that share a key count as one. */
class Rounds {
  readonly all: Placed[][] = [];
  private readonly counts = new Map<number, number>();

  add(placed: Placed): void {
    const timer = timerOf(placed.change);
    const round = timer === null ? 0 : (this.counts.get(timer) ?? 0);
    if (timer !== null) this.counts.set(timer, round + 1);
    (this.all[round] ??= []).push(placed);
  }
}

interface Making {
  readonly outcomes: (Outcome | undefined)[];
  readonly caller: Caller;
  readonly options: BatchOptions;
}

/** The round is held by nothing while the disk works: the timers of a large batch are large. */
async function nextRound(rounds: Round[], number: number, making: Making): Promise<void> {
  const isPause = number % beginCount === beginCount - 1;
  const begun = begin(rounds.shift() ?? [], isPause, making);
  await Promise.all(await making.options.work.run(begun));
}

/**
 * Rounds of few changes may have their outcomes in the turn that begins them: every so many, the next turn comes first.
 */
function* begin(round: Round, isPause: boolean, making: Making): Steps<Promise<unknown>[]> {
  if (isPause) yield stintCostMax;
  const made: Promise<unknown>[] = [];
  for (let from = 0; from < round.length; from += beginCount) {
    const slice = round.slice(from, from + beginCount);
    made.push(...beginSome(slice, making));
    yield slice.length * beginCost;
  }
  return made;
}

/** Each is done when its outcomes are in their places. */
function beginSome(slice: Round, making: Making): Promise<unknown>[] {
  const requests: SetRequest[] = [];
  // While the disk works, nothing of the items is held but these.
  const places: Place[] = [];
  const made: Promise<unknown>[] = [];
  const { outcomes } = making;
  for (const { index, change } of slice) {
    const place = { index, base: change.base };
    if (change.kind === 'set') {
      requests.push(change.request);
      places.push(place);
    } else {
      const outcome = outcomeOf(changeAlone(change, making));
      made.push(outcome.then((one) => keep(outcomes, place, one)));
    }
  }
  const set = making.options.sets.setMany(requests);
  made.push(set.then((all) => all.forEach((one, i) => keep(outcomes, places[i] as Place, one))));
  return made;
}

interface Place {
  readonly index: number;
  /** The beginning of pointers into the item's timer. */
  readonly base: string;
}

function keep(outcomes: Making['outcomes'], { index, base }: Place, outcome: Outcome): void {
  outcomes[index] = outcome.ok ? outcome : { ok: false, error: inItem(base, outcome.error) };
}

/** Rejects with CarillonError when this change cannot be made. */
async function changeAlone(
  change: Exclude<BatchChange, { kind: 'set' }>,
  { caller, options: { service, sets } }: Making,
): Promise<Outcome> {
  const { namespace } = caller;
  const actor = caller.name ?? '';
  const { id } = change;
  const found = hasFactor(id) ? id : await findId(service, id, namespace);
  if (change.kind === 'cancel') {
    const known = found ?? { ...id, factor: factorUnsaid };
    return { ok: true, ...(await service.cancel(namespace, known, actor)) };
  }
  const { definition, factor } = change.timer;
  const known = found ?? { ...id, factor: factor ?? factorUnsaid };
  return sets.set({ namespace, id: known, definition, factor, idempotencyKey: null, actor });
}

function outcomeOf(change: Promise<Outcome>): Promise<Outcome> {
  return change.catch((error: unknown) => {
    if (error instanceof CarillonError) return { ok: false, error };
    throw error;
  });
}

/** Texts are only chained here: the socket puts them together. */
function* batchResponse(outcomes: readonly Outcome[], ndjson: boolean): Steps<ApiResponse> {
  let text = '';
  for (let i = 0; i < outcomes.length; i++) {
    if (i > 0) text += ndjson ? '\n' : ',\n';
    text += outcomeText(outcomes[i] as Outcome);
    if (i % linesInStep === linesInStep - 1) yield linesInStep * lineCost;
  }
  if (!ndjson) return { status: 200, headers: jsonHeaders, body: `[${text}]` };
  return { status: 200, headers: ndjsonHeaders, body: text === '' ? '' : `${text}\n` };
}

const jsonHeaders = ['content-type', 'application/json; charset=utf-8'];
const ndjsonHeaders = ['content-type', 'application/x-ndjson'];

function jsonAt(json: BatchJson, index: number): unknown {
  return json.at(index);
}

/** The error in the place of the result. */
function tried<A extends readonly unknown[], T>(
  step: (...given: A) => T,
  ...given: A
): T | CarillonError {
  try {
    return step(...given);
  } catch (error) {
    if (error instanceof CarillonError) return error;
    throw error;
  }
}

/**
 * An item of a form that is known is not parsed. A cron pattern may be looked up for years ahead; an error costs more
 * than a timer.
 */
function itemCost({ from, to, form }: BatchItem, change: BatchChange | CarillonError): number {
  const readCost = (form === null ? 20 : 4) + ((to - from) >> 7);
  if (change instanceof CarillonError)
    return readCost + (change.pointer?.endsWith('/timing/cron') === true ? stintCostMax : 40);
  return readCost + (timingKind(change) === 'cron' ? 400 : 0);
}

function timingKind(change: BatchChange): string | null {
  if (change.kind === 'cancel') return null;
  return (change.kind === 'set' ? change.request : change.timer).definition.timing.kind;
}

/** Ids, counts and versions need no escaping. */
function outcomeText(outcome: Outcome): string {
  if (!outcome.ok) return problemText(outcome.error);
  const { id, copies, version } = outcome;
  return `{"status":200,"id":"${id}","copies":"${copiesText(copies)}","version":"${formatVersion(version)}"}`;
}

/** An item has no header that could say when to come back. */
function problemText(error: CarillonError): string {
  const seconds = retryAfterOf(error);
  return JSON.stringify({
    ...problemOf(error),
    ...(seconds !== null && { 'retry-after': seconds }),
  });
}
