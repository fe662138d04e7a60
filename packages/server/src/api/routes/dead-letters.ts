/** `/dead-letters`: pops that were given up, to be read, sent again or removed. */
import { CarillonError, type Version } from '@carillon/core';
import type { Limits } from '../../config/config.ts';
import { type ApiResponse, jsonResponse, pageResponse } from '../../http/message.ts';
import { badRequest } from '../../http/problem.ts';
import { letterFilterOf, letterNames, pageNames, pageOf, parametersOf } from '../query.ts';
import { renderDeadLetter, renderLetterSummary } from '../render-timer.ts';
import type { Handler, Route } from '../router.ts';
import type { Caller } from '../../access/access.ts';
import type { LetterFilter, TimerService } from '../../request/service.ts';
import { anywhere, looseIdOf } from '../request-id.ts';
import { versionHeader } from './timers.ts';

export interface DeadLettersOptions {
  readonly service: TimerService;
  readonly limits: Limits;
}

export function deadLetterRoutes({ service, limits }: DeadLettersOptions): Route[] {
  const filterOf = (parameters: URLSearchParams, { namespace }: Caller): LetterFilter => ({
    namespace,
    ...letterFilterOf(parameters, limits),
  });
  const list: Handler = async (request, _, caller) => {
    const parameters = parametersOf(request.query, [...letterNames, ...pageNames]);
    const page = await service.deadLetters({
      ...filterOf(parameters, caller),
      ...pageOf(parameters, limits),
    });
    const { items, cursor, missing } = page;
    return pageResponse('dead-letters', items, renderDeadLetter, { cursor, missing });
  };
  const summary: Handler = async (request, _, caller) => {
    const filter = filterOf(parametersOf(request.query, letterNames), caller);
    return jsonResponse(renderLetterSummary(await service.letterSummary(filter)));
  };
  const one: Handler = async (_, id, { namespace }) => {
    const letter = await service.deadLetter(namespace, anywhere(looseIdOf(id)));
    if (letter === null) throw noLetter();
    return jsonResponse(renderDeadLetter(letter));
  };
  const redeliver: Handler = async (_, id, { namespace, name }) =>
    found(await service.redeliver(namespace, anywhere(looseIdOf(id)), name ?? ''));
  const discard: Handler = async (_, id, { namespace, name }) =>
    found(await service.discard(namespace, anywhere(looseIdOf(id)), name ?? ''));
  const discardMany: Handler = async (request, _, caller) => {
    const parameters = parametersOf(request.query, ['all', ...letterNames]);
    // Not by mistake: an id that is empty must not mean everything.
    if (parameters.get('all') !== 'true') {
      throw badRequest('Say that all dead letters are meant: DELETE /dead-letters?all=true');
    }
    const filter = filterOf(parameters, caller);
    const { count, more, version } = await service.discardMany(filter, caller.name ?? '');
    return jsonResponse({ discarded: count, more }, 200, versionHeader(version));
  };
  return [
    {
      method: 'GET',
      path: '/dead-letters',
      needs: 'read',
      parameters: true,
      long: true,
      handle: list,
    },
    {
      method: 'DELETE',
      path: '/dead-letters',
      needs: 'write',
      parameters: true,
      handle: discardMany,
    },
    {
      method: 'GET',
      path: '/dead-letters/summary',
      needs: 'read',
      parameters: true,
      long: true,
      handle: summary,
    },
    { method: 'GET', path: '/dead-letters/:id', needs: 'read', handle: one },
    { method: 'DELETE', path: '/dead-letters/:id', needs: 'write', handle: discard },
    { method: 'POST', path: '/dead-letters/:id/redeliver', needs: 'write', handle: redeliver },
  ];
}

function found(version: Version | null): ApiResponse {
  if (version === null) throw noLetter();
  return { status: 200, headers: versionHeader(version), body: '' };
}

function noLetter(): CarillonError {
  return new CarillonError('not_found', 'No dead letter has this id.');
}
