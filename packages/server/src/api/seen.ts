/**
 * `Carillon-Seen`: the highest version that a client has seen. Taken in before anything else is done about a change,
 * so that the change gets a higher version: the changes of one client stay in order, even when clocks differ or
 * members were cut off.
 */
import { parseVersion } from '@carillon/core';
import { type ApiRequest, headerOf } from '../http/message.ts';
import { badRequest } from '../http/problem.ts';
import type { Route } from './router.ts';
import type { TimerService } from '../request/service.ts';

/** The same routes; routes that change timers read the header. */
export function heedSeen(service: Pick<TimerService, 'saw'>, routes: readonly Route[]): Route[] {
  return routes.map((route) => {
    if (route.needs !== 'write') return route;
    const { handle } = route;
    return {
      ...route,
      handle: (request, part, caller) => {
        hear(service, request);
        return handle(request, part, caller);
      },
    };
  });
}

/** Throws CarillonError. */
function hear(service: Pick<TimerService, 'saw'>, request: ApiRequest): void {
  // The name of the answer's header: the client means the order to be kept, and it would not be.
  if (headerOf(request, 'carillon-version') !== undefined) {
    throw badRequest(
      'Carillon-Version is a header of answers; with a request its value goes into Carillon-Seen.',
    );
  }
  const text = headerOf(request, 'carillon-seen');
  if (text === undefined) return;
  const seen = parseVersion(text);
  if (seen === null) {
    throw badRequest(
      'Carillon-Seen must be one version, as Carillon-Version gives it: <milliseconds>.<number>.',
    );
  }
  service.saw(seen);
}
