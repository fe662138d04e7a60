/** `/dead-letters`: pops that were given up, to be read, sent again or removed. */
import { CarillonError } from '@carillon/core';
import type { Caller } from '../access/access.ts';
import type { Limits } from '../config.ts';
import { type ApiRequest, type ApiResponse, jsonResponse } from './message.ts';
import { pageOf } from './query.ts';
import { renderDeadLetter } from './render-timer.ts';
import type { Route } from './router.ts';
import type { TimerService } from './service.ts';
import { timerIdOf } from './timers.ts';

export interface DeadLettersOptions {
  readonly service: TimerService;
  readonly limits: Limits;
}

export function deadLetterRoutes({ service, limits }: DeadLettersOptions): Route[] {
  const list = async (
    request: ApiRequest,
    _: string,
    { namespace }: Caller,
  ): Promise<ApiResponse> => {
    const page = await service.deadLetters({
      namespace,
      ...pageOf(new URLSearchParams(request.query), limits),
    });
    const { cursor, missing } = page;
    return jsonResponse({ 'dead-letters': page.items.map(renderDeadLetter), cursor, missing });
  };
  const redeliver = async (_: ApiRequest, id: string, caller: Caller): Promise<ApiResponse> =>
    found(await service.redeliver(caller.namespace, timerIdOf(id)));
  const discard = async (_: ApiRequest, id: string, caller: Caller): Promise<ApiResponse> =>
    found(await service.discard(caller.namespace, timerIdOf(id)));
  return [
    { method: 'GET', path: '/dead-letters', needs: 'read', handle: list },
    { method: 'DELETE', path: '/dead-letters/:id', needs: 'write', handle: discard },
    { method: 'POST', path: '/dead-letters/:id/redeliver', needs: 'write', handle: redeliver },
  ];
}

function found(done: boolean): ApiResponse {
  if (!done) throw new CarillonError('not_found', 'No dead letter has this id.');
  return { status: 200, headers: [], body: '' };
}
