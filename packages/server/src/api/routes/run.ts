/**
 * `POST /timers/ID/run`: the callback of a timer, now, by a timer of its own. The timer itself is not touched: another
 * pop with its id and sequence would be a duplicate, which receivers drop.
 */
import { CarillonError, type Definition } from '@carillon/core';
import type { Caller } from '../../access/access.ts';
import type { ApiRequest, ApiResponse } from '../../http/message.ts';
import { anywhere, looseIdOf } from '../request-id.ts';
import type { Route } from '../router.ts';
import {
  endedResponse,
  idempotencyKeyOf,
  setResponse,
  type TimersOptions,
  traceOf,
  wantsJson,
} from './timers.ts';

type RunOptions = Pick<TimersOptions, 'service' | 'sets'>;

export function runRoutes(options: RunOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/timers/:id/run',
      needs: 'write',
      handle: (request, id, caller) => run(options, request, id, caller),
    },
  ];
}

async function run(
  { service, sets }: RunOptions,
  request: ApiRequest,
  part: string,
  { namespace, name }: Caller,
): Promise<ApiResponse> {
  const id = anywhere(looseIdOf(part));
  const key = idempotencyKeyOf(request);
  const timer = await service.get(namespace, id);
  if (timer === null) {
    const ended = await service.ended(namespace, id);
    if (ended !== null) return endedResponse(ended);
    throw new CarillonError('not_found', 'No timer has this id.');
  }
  const outcome = await sets.set({
    namespace,
    id: null,
    definition: onceNow(timer.definition, key !== null, traceOf(request)),
    factor: timer.factor,
    idempotencyKey: key,
    actor: name ?? '',
    runs: id,
  });
  return setResponse(outcome, wantsJson(request), []);
}

/** The same callback, once, at once, without its tag-info: statistics count the timer already. */
function onceNow(definition: Definition, idempotent: boolean, trace: string | null): Definition {
  const ending = { repeatForMs: null, untilMs: null, count: null, forever: false };
  return {
    ...definition,
    timing: { kind: 'interval', intervalMs: 0, ending },
    tagInfo: [],
    idempotent,
    origin: null,
    trace,
  };
}
