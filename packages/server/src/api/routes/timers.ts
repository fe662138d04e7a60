/** `/timers`: set, replace, cancel, read and list. */
import { CarillonError, formatVersion, parseTraceparent, type Version } from '@carillon/core';
import {
  anywhere,
  factorUnsaid,
  findId,
  hasFactor,
  type LooseId,
  looseIdOf,
} from '../request-id.ts';
import {
  type ApiRequest,
  type ApiResponse,
  headerOf,
  jsonResponse,
  pageResponse,
} from '../../http/message.ts';
import { isIdempotencyKey } from '../batch-change.ts';
import type { TimerParser } from '../parse-timer.ts';
import { accepts } from '../../http/accept.ts';
import { badRequest, problemResponse } from '../../http/problem.ts';
import { parametersOf, parseListQuery, tagOf } from '../query.ts';
import { endedWords, renderEnded, renderOneTimer, renderTimer } from '../render-timer.ts';
import type { Route } from '../router.ts';
import { TimerBodies } from '../timer-bodies.ts';
import type {
  Changed,
  Copies,
  EndedView,
  SetOutcome,
  SetService,
  TimerService,
} from '../../request/service.ts';
import type { Caller } from '../../access/access.ts';
import type { Limits } from '../../config/config.ts';

export interface TimersOptions {
  readonly service: TimerService;
  readonly sets: SetService;
  readonly parser: TimerParser;
  readonly limits: Limits;
  /** Wall-clock milliseconds. */
  readonly wall: () => number;
  /** Whether the namespace wants members that a timer does not have to be refused. */
  readonly strict: (namespace: string) => boolean;
}

export function timerRoutes(options: TimersOptions): Route[] {
  const timers = new Timers(options);
  return [
    {
      method: 'POST',
      path: '/timers',
      slash: true,
      needs: 'write',
      handle: (request, _, caller) => timers.post(request, caller),
    },
    {
      method: 'GET',
      path: '/timers',
      needs: 'read',
      long: true,
      parameters: true,
      handle: (request, _, caller) => timers.list(request, caller),
    },
    {
      method: 'DELETE',
      path: '/timers',
      needs: 'write',
      parameters: true,
      handle: (request, _, caller) => timers.cancelByTag(request, caller),
    },
    {
      method: 'PUT',
      path: '/timers/:id',
      needs: 'write',
      handle: (request, id, caller) => timers.put(request, id, caller),
    },
    {
      method: 'GET',
      path: '/timers/:id',
      needs: 'read',
      handle: (_, id, caller) => timers.get(id, caller),
    },
    {
      method: 'DELETE',
      path: '/timers/:id',
      needs: 'write',
      handle: (_, id, caller) => timers.cancel(id, caller),
    },
  ];
}

class Timers {
  private readonly options: TimersOptions;
  private readonly bodies: TimerBodies;

  constructor(options: TimersOptions) {
    this.options = options;
    this.bodies = new TimerBodies(options.limits.jsonDepthMax);
  }

  post(request: ApiRequest, caller: Caller): Promise<ApiResponse> {
    return this.set(request, caller, null, idempotencyKeyOf(request));
  }

  put(request: ApiRequest, part: string, caller: Caller): Promise<ApiResponse> {
    const id = looseIdOf(part);
    if (hasFactor(id)) return this.set(request, caller, id, null);
    return this.putLoose(request, id, caller);
  }

  /** The factor is the one of the existing timer; a new timer takes it from the body. */
  private async putLoose(request: ApiRequest, id: LooseId, caller: Caller): Promise<ApiResponse> {
    const found = await findId(this.options.service, id, caller.namespace);
    return this.set(request, caller, found ?? { ...id, factor: null }, null);
  }

  private set(
    request: ApiRequest,
    { namespace, name }: Caller,
    given: LooseId | null,
    key: string | null,
  ): Promise<ApiResponse> {
    const { sets, parser, wall, strict } = this.options;
    refuseEncoded(request);
    const { json, warnings } = this.bodies.read(request.body);
    const { definition, factor } = parser.parse(json, {
      wallMs: wall(),
      factor: given?.factor ?? null,
      idempotent: key !== null,
      strict: strict(namespace),
      trace: traceOf(request),
    });
    const id = given && { ...given, factor: given.factor ?? factor ?? factorUnsaid };
    const asJson = wantsJson(request);
    return sets
      .set({ namespace, id, definition, factor, idempotencyKey: key, actor: name ?? '' })
      .then((outcome) => setResponse(outcome, asJson, warnings));
  }

  async get(part: string, { namespace }: Caller): Promise<ApiResponse> {
    const id = looseIdOf(part);
    const { service } = this.options;
    const timer = await service.get(namespace, anywhere(id));
    if (timer !== null) return jsonResponse(renderOneTimer(timer));
    const ended = await service.ended(namespace, anywhere(id));
    if (ended === null) throw new CarillonError('not_found', 'No timer has this id.');
    return endedResponse(ended);
  }

  async cancel(part: string, { namespace, name }: Caller): Promise<ApiResponse> {
    const { service } = this.options;
    const id = looseIdOf(part);
    const found = hasFactor(id) ? id : await findId(service, id, namespace);
    const known = found ?? { ...id, factor: factorUnsaid };
    const changed = await service.cancel(namespace, known, name ?? '');
    return { status: 200, headers: changedHeaders(changed), body: '' };
  }

  async list(request: ApiRequest, { namespace }: Caller): Promise<ApiResponse> {
    const query = parseListQuery(request.query, this.options.limits);
    const page = await this.options.service.list({ namespace, ...query });
    const { items, cursor, missing, total = null } = page;
    const rest = { cursor, missing, ...(total !== null && { total }) };
    return pageResponse('timers', items, renderTimer, rest);
  }

  async cancelByTag(request: ApiRequest, { namespace, name }: Caller): Promise<ApiResponse> {
    const tag = tagOf(parametersOf(request.query, ['tag']), this.options.limits);
    if (tag === null) {
      throw badRequest('Name the tag whose timers are to be cancelled: DELETE /timers?tag=…');
    }
    const { service } = this.options;
    const { count, version } = await service.cancelByTag(namespace, tag, name ?? '');
    return jsonResponse({ cancelled: count }, 200, versionHeader(version));
  }
}

export function copiesText(copies: Copies): string {
  return `${copies.have}/${copies.wanted}`;
}

export function versionHeader(version: Version): string[] {
  return ['carillon-version', formatVersion(version)];
}

function changedHeaders({ id, copies, version }: Changed): string[] {
  const where = ['location', `/timers/${id}`, 'carillon-copies', copiesText(copies)];
  where.push('carillon-version', formatVersion(version));
  return where;
}

export function setResponse(
  outcome: SetOutcome,
  asJson: boolean,
  warnings: readonly string[],
): ApiResponse {
  if (!outcome.ok) return problemResponse(outcome.error, warnings);
  const headers = changedHeaders(outcome);
  headers.push(...warnings);
  if (asJson) return jsonResponse(renderTimer(outcome.timer()), 200, headers);
  return { status: 200, headers, body: '' };
}

/** 404 as for a timer that never was, with the way to its dead letter where there is one. */
export function endedResponse(ended: EndedView): ApiResponse {
  const error = new CarillonError('not_found', endedWords(ended));
  return problemResponse(error, [], renderEnded(ended));
}

export function wantsJson(request: ApiRequest): boolean {
  return accepts(headerOf(request, 'accept'), 'application/json');
}

/** Throws CarillonError. */
export function idempotencyKeyOf(request: ApiRequest): string | null {
  const key = headerOf(request, 'idempotency-key');
  if (key === undefined) return null;
  if (isIdempotencyKey(key)) return key;
  throw badRequest('The Idempotency-Key must be 1 to 255 printable ASCII characters.');
}

/** The trace that the request belongs to; one that is not understood is none, as the standard says. */
export function traceOf(request: ApiRequest): string | null {
  const text = headerOf(request, 'traceparent');
  return text === undefined ? null : parseTraceparent(text);
}

/** Throws CarillonError: nothing here unpacks bodies. */
export function refuseEncoded(request: ApiRequest): void {
  const encoding = headerOf(request, 'content-encoding');
  if (encoding === undefined || encoding === 'identity') return;
  throw new CarillonError('unsupported_media', 'Send the body without a content-encoding.');
}
