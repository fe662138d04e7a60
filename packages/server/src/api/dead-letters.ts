/** `/dead-letters`: pops that were given up, to be read, sent again or removed. */
import { CarillonError, type Version } from '@carillon/core';
import type { Limits } from '../config.ts';
import { type ApiResponse, pageResponse } from './message.ts';
import { pageOf } from './query.ts';
import { renderDeadLetter } from './render-timer.ts';
import type { Handler, Route } from './router.ts';
import type { TimerService } from './service.ts';
import { timerIdOf, versionHeader } from './timers.ts';

export interface DeadLettersOptions {
  readonly service: TimerService;
  readonly limits: Limits;
}

export function deadLetterRoutes({ service, limits }: DeadLettersOptions): Route[] {
  const list: Handler = async (request, _, { namespace }) => {
    const page = await service.deadLetters({
      namespace,
      ...pageOf(new URLSearchParams(request.query), limits),
    });
    const { items, cursor, missing } = page;
    return pageResponse('dead-letters', items, renderDeadLetter, { cursor, missing });
  };
  const redeliver: Handler = async (_, id, { namespace }) =>
    found(await service.redeliver(namespace, timerIdOf(id, namespace)));
  const discard: Handler = async (_, id, { namespace }) =>
    found(await service.discard(namespace, timerIdOf(id, namespace)));
  return [
    { method: 'GET', path: '/dead-letters', needs: 'read', long: true, handle: list },
    { method: 'DELETE', path: '/dead-letters/:id', needs: 'write', handle: discard },
    { method: 'POST', path: '/dead-letters/:id/redeliver', needs: 'write', handle: redeliver },
  ];
}

function found(version: Version | null): ApiResponse {
  if (version === null) throw new CarillonError('not_found', 'No dead letter has this id.');
  return { status: 200, headers: versionHeader(version), body: '' };
}
