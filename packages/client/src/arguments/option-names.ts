/** Names of the options of a client and of its calls. */
import { namesOf, refuseUnknown, refuseUnless } from '@carillon/core';
import { checkOptions, headerText, pagedNames } from './call-arguments.ts';
import type { CarillonOptions, ListOptions, PreviewOptions, SetOptions } from '../carillon.ts';
import type { AuditFilter, HistoryFilter } from '../history.ts';
import type { PagedOptions } from '../pages.ts';
import type { ClientSystem } from '../system.ts';
import type { ApiRequest } from '../transport.ts';

const clientNames = namesOf<CarillonOptions>({
  members: 1,
  token: 1,
  namespace: 1,
  fetch: 1,
  timeout: 1,
  avoid: 1,
  refresh: 1,
  coalesce: 1,
  system: 1,
});
export const setNames = namesOf<SetOptions>({ idempotencyKey: 1, signal: 1 });
export const previewNames = namesOf<PreviewOptions>({ timezone: 1, signal: 1 });
export const historyNames = [...namesOf<HistoryFilter>({ since: 1, until: 1 }), ...pagedNames];
export const auditNames = [
  ...namesOf<Omit<AuditFilter, keyof HistoryFilter>>({ actor: 1, action: 1, allNamespaces: 1 }),
  ...historyNames,
];
export const listNames = [
  ...namesOf<Omit<ListOptions, keyof PagedOptions>>({
    tag: 1,
    tagPrefix: 1,
    state: 1,
    receiver: 1,
    failure: 1,
    order: 1,
    from: 1,
    to: 1,
    member: 1,
    role: 1,
  }),
  ...pagedNames,
];
const requestNames = namesOf<ApiRequest>({
  method: 1,
  path: 1,
  query: 1,
  headers: 1,
  body: 1,
  signal: 1,
  repeatable: 1,
  fits: 1,
});

type Given = Partial<ClientSystem> | null;

/** Throws TypeError. */
export function checkClient(options: CarillonOptions): void {
  refuseUnknown(options, 'client', clientNames);
  const { token, namespace, fetch: send, coalesce, system } = options;
  if (token !== undefined) headerText('token', token);
  if (namespace !== undefined) headerText('namespace', namespace);
  refuseUnless(['undefined', 'function'].includes(typeof send), 'fetch', 'a function', send);
  const isChoice = ['undefined', 'boolean'].includes(typeof coalesce);
  refuseUnless(isChoice, 'coalesce', 'true or false', coalesce);
  const isSystem = system === undefined || typeof (system as Given)?.now === 'function';
  refuseUnless(isSystem, 'system', 'one with the functions of ClientSystem', system);
}

/** Throws TypeError. */
export function checkRequest(request: ApiRequest): void {
  checkOptions(request, 'request', requestNames);
  const { path, headers = {} } = request;
  const isPath = typeof path === 'string' && path.startsWith('/');
  refuseUnless(isPath, 'path', "a text such as '/timers'", path);
  for (const name in headers) headerText(`The header ${name}`, headers[name] as string);
}
