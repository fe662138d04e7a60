/**
 * `GET /timers/ID/history`, `GET /audit` and `DELETE /history/answers`: attempts and changes that members keep on disk.
 */
import { CarillonError } from '@carillon/core';
import { anyNamespace } from '../../config/namespace.ts';
import type { Limits } from '../../config/config.ts';
import { jsonResponse, pageResponse } from '../../http/message.ts';
import { badRequest } from '../../http/problem.ts';
import type { Caller } from '../../access/access.ts';
import type { HistoryEntryView, HistoryQuery, HistoryService } from '../../request/service.ts';
import { type Action, actions } from '../../history/entry.ts';
import { formatInstant, instantFault, parseInstant } from '../instant.ts';
import { pageNames, pageOf, parametersOf } from '../query.ts';
import { looseIdOf } from '../request-id.ts';
import type { Handler, Route } from '../router.ts';
import type { HistoryEntryJson } from '../schema/history.ts';

export interface HistoryOptions {
  readonly history: HistoryService;
  readonly limits: Limits;
}

const historyNames = ['since', 'until', 'actor', 'action', ...pageNames];
const auditNames = [...historyNames, 'namespace'];
const actorLengthMax = 256;
/** The cursor of a history has a part for each member. */
const cursorLengthMax = 16_384;

export function historyRoutes({ history, limits }: HistoryOptions): Route[] {
  const queryOf = (parameters: URLSearchParams): Omit<HistoryQuery, 'namespace' | 'id'> => ({
    ...pageOf(parameters, limits, cursorLengthMax),
    actor: actorOf(parameters),
    action: actionOf(parameters),
    sinceMs: timeOf(parameters, 'since') ?? 0,
    untilMs: timeOf(parameters, 'until') ?? Number.MAX_SAFE_INTEGER,
  });
  const one: Handler = async (request, part, { namespace }) => {
    const id = looseIdOf(part);
    const asked = queryOf(parametersOf(request.query, historyNames));
    const page = await history.history({ ...asked, namespace, id });
    const { items, cursor, missing } = page;
    return pageResponse('entries', items, render, { cursor, missing });
  };
  const audit: Handler = async (request, _, caller) => {
    const parameters = parametersOf(request.query, auditNames);
    const namespace = namespaceOf(parameters, caller);
    const page = await history.audit({ ...queryOf(parameters), namespace, id: null });
    const { items, cursor, missing } = page;
    return pageResponse('entries', items, render, { cursor, missing });
  };
  const erase: Handler = async (_, __, { namespace, name }) =>
    jsonResponse({ missing: [...(await history.eraseAnswers(namespace, name ?? ''))] });
  return [
    {
      method: 'GET',
      path: '/timers/:id/history',
      needs: 'read',
      parameters: true,
      long: true,
      handle: one,
    },
    { method: 'GET', path: '/audit', needs: 'read', parameters: true, long: true, handle: audit },
    { method: 'DELETE', path: '/history/answers', needs: 'write', handle: erase },
  ];
}

/** null: all namespaces. Throws CarillonError. */
function namespaceOf(parameters: URLSearchParams, { namespace, bound }: Caller): string | null {
  const given = parameters.get('namespace');
  if (given === null) return namespace;
  if (given !== anyNamespace) {
    throw badRequest(
      'The parameter namespace may only be *, for all; one namespace is named by the header Carillon-Namespace.',
    );
  }
  if (bound === anyNamespace) return null;
  throw new CarillonError('forbidden', 'This token is for one namespace, not for all.');
}

function actorOf(parameters: URLSearchParams): string | null {
  const actor = parameters.get('actor');
  if (actor === null || (actor !== '' && actor.length <= actorLengthMax)) return actor;
  throw badRequest('The parameter actor must be the name of a token.');
}

function actionOf(parameters: URLSearchParams): Action | null {
  const given = parameters.get('action');
  const action = actions.find((name) => name === given) ?? null;
  if (given === null || action !== null) return action;
  throw badRequest(`The parameter action must be one of ${actions.join(', ')}.`);
}

function timeOf(parameters: URLSearchParams, name: 'since' | 'until'): number | null {
  const given = parameters.get(name);
  if (given === null) return null;
  const ms = parseInstant(given);
  if (ms !== null) return ms;
  throw badRequest(instantFault(`The parameter ${name}`, given));
}

function render(entry: HistoryEntryView): HistoryEntryJson {
  const { timer, namespace, member } = entry;
  const common = { at: formatInstant(Math.round(entry.atMs)), timer, namespace, member };
  if (entry.kind === 'change') {
    const { kind, action, actor, tag, sequence, version } = entry;
    return { kind, ...common, action, actor, tag, pop: sequence, version };
  }
  const { kind, sequence, attempt, status, failure, detail, latenessMs, tookMs, position } = entry;
  return {
    kind,
    ...common,
    pop: sequence,
    attempt,
    status,
    failure,
    detail,
    'lateness-ms': latenessMs,
    'took-ms': tookMs,
    replica: position,
  };
}
