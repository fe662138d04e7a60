/** `GET /timers/ID/attempts`: how the newest callbacks of a timer went, at whichever member they were made. */
import type { Caller } from '../../access/access.ts';
import { formatInstant } from '../instant.ts';
import { type ApiResponse, jsonResponse } from '../../http/message.ts';
import type { Route } from '../router.ts';
import type { AttemptsJson } from '../schema/timer.ts';
import type { AttemptsView, TimerService } from '../../request/service.ts';
import { anywhere, looseIdOf } from '../request-id.ts';

export function attemptRoutes(service: TimerService): Route[] {
  return [
    {
      method: 'GET',
      path: '/timers/:id/attempts',
      needs: 'read',
      handle: (_, part, caller) => attempts(service, part, caller),
    },
  ];
}

/** A timer that no member remembers has no attempts: it may have ended long ago, or not have popped yet. */
async function attempts(
  service: TimerService,
  part: string,
  { namespace }: Caller,
): Promise<ApiResponse> {
  const id = anywhere(looseIdOf(part));
  return jsonResponse(render(await service.attempts(namespace, id)));
}

function render({ attempts: all, missing }: AttemptsView): AttemptsJson {
  return {
    attempts: all.map(({ sequence, atMs, latenessMs, tookMs, ...same }) => ({
      pop: sequence,
      at: formatInstant(atMs),
      'lateness-ms': rounded(latenessMs),
      'took-ms': rounded(tookMs),
      attempt: same.attempt,
      status: same.status,
      failure: same.failure,
      detail: same.detail,
      member: same.member,
    })),
    missing: [...missing],
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 10) / 10;
}
