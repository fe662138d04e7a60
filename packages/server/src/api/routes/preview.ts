/** `POST /timers/preview`: when a timer would pop if it were set now. Nothing is stored and nothing is called. */
import type { Caller } from '../../access/access.ts';
import { type ApiRequest, type ApiResponse, jsonResponse } from '../../http/message.ts';
import { badRequest } from '../../http/problem.ts';
import { parseBody } from '../json.ts';
import { isTimezone } from '../parse-timing.ts';
import { previewOf } from '../preview.ts';
import { parametersOf } from '../query.ts';
import type { Route } from '../router.ts';
import { refuseEncoded, type TimersOptions } from './timers.ts';

type PreviewOptions = Pick<TimersOptions, 'parser' | 'limits' | 'wall' | 'strict'>;

export function previewRoutes(options: PreviewOptions): Route[] {
  return [
    {
      method: 'POST',
      path: '/timers/preview',
      needs: 'read',
      parameters: true,
      handle: (request, _, caller) => preview(options, request, caller),
    },
  ];
}

function preview(options: PreviewOptions, request: ApiRequest, caller: Caller): ApiResponse {
  const { parser, limits, wall, strict } = options;
  refuseEncoded(request);
  const shownIn = zoneOf(request);
  const wallMs = wall();
  const { timing } = parser.parse(withCallback(parseBody(request.body, limits.jsonDepthMax)), {
    wallMs,
    factor: null,
    idempotent: false,
    strict: strict(caller.namespace),
    trace: null,
  }).definition;
  return jsonResponse(previewOf(timing, wallMs, shownIn));
}

/** A timing alone is enough: the callback does not decide when a timer pops. */
function withCallback(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (Object.hasOwn(value, 'callback')) return value;
  return { ...value, callback: { http: { uri: 'http://receiver.invalid/' } } };
}

/** The zone that local times are wanted in; null: that of the timing. */
function zoneOf(request: ApiRequest): string | null {
  const zone = parametersOf(request.query, ['timezone']).get('timezone');
  if (zone === null || isTimezone(zone)) return zone;
  throw badRequest('The parameter timezone is not a known IANA name.');
}
