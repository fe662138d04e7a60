/**
 * For tests: requests that are wrong in every way a client can think of, and now and then right. The fuzz tests ask for
 * them one by one; `npm run security` takes them as the corpus that it changes further.
 */
import fc from 'fast-check';
import { bytesOf } from '../api/stand-in.contract.ts';

const id = '00000019000000010000000100000002-2';
const word = fc.constantFrom(
  'timing',
  'interval',
  'repeat-for',
  'at',
  'cron',
  'timezone',
  'until',
  'count',
  'forever',
  'callback',
  'http',
  'uri',
  'opaque',
  'method',
  'headers',
  'timeout',
  'retry',
  'limit',
  'base',
  'max-wait',
  'max-attempts',
  'reliability',
  'replication-factor',
  'statistics',
  'tag-info',
  'type',
  'tags',
  '__proto__',
  'constructor',
  'toString',
  '',
);
const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    -0,
    1,
    -1,
    0.5,
    30,
    1e308,
    2 ** 53,
    4e9,
    null,
    true,
    false,
    '',
    'x',
    'http://receiver/',
    'http://[::1]/',
    'http://a@b/',
    '* * * * *',
    '0 0 30 2 *',
    '@daily',
    'UTC',
    'Europe/Berlin',
    '2026-01-01T00:00:01Z',
    'POST',
    '\ud800',
    '\0',
  ),
  fc.double(),
  fc.string({ unit: 'binary' }),
);
/** JSON values that look like timers here and there. */
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(word, tie('value'), { maxKeys: 6, noNullPrototype: true }),
  ),
}));

/** Mostly right. */
const mostly = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 19, arbitrary: usual }, { weight: 1, arbitrary: value });
/** Mostly absent. */
const seldom = (usual: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: mostly(usual) },
  );
const part = (members: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(members, { noNullPrototype: true });
const seconds = fc.double({ min: 0, max: 4e9, noNaN: true });
const instant = fc.constantFrom(
  '2026-01-01T00:00:01Z',
  '2036-01-01T00:00:01Z',
  '2026-13-01T00:00:00Z',
);

const timing = fc.oneof(
  part({ interval: mostly(seconds), 'repeat-for': seldom(seconds), until: seldom(instant) }),
  part({ interval: mostly(fc.nat()), count: seldom(fc.nat()), forever: seldom(fc.boolean()) }),
  part({ at: mostly(instant), interval: seldom(seconds) }),
  part({
    cron: mostly(
      fc.oneof(fc.constant('* * * * *'), fc.stringMatching(/^[0-9*/,\-@LW#? A-Z]{0,20}$/)),
    ),
    timezone: seldom(fc.constantFrom('UTC', 'Europe/Berlin', 'No/Where')),
    forever: mostly(fc.boolean()),
    until: seldom(instant),
  }),
);
const http = part({
  uri: mostly(fc.oneof(fc.webUrl(), fc.constant('http://127.0.0.1:80/'))),
  opaque: seldom(fc.string({ unit: 'grapheme' })),
  method: seldom(fc.constantFrom('POST', 'GET', 'TRACE')),
  headers: seldom(fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true })),
  timeout: seldom(fc.double({ min: 0, max: 200, noNaN: true })),
});
const retry = part({ limit: leaf, base: leaf, 'max-wait': leaf, 'max-attempts': leaf });
/** Timers with most members right and some wrong: these get past the shape and into the rules. */
export const timer = part({
  timing: mostly(timing),
  callback: mostly(part({ http: mostly(http), retry: seldom(retry) })),
  reliability: seldom(part({ 'replication-factor': fc.integer({ min: -1, max: 18 }) })),
  statistics: seldom(part({ 'tag-info': fc.array(part({ type: fc.string(), count: fc.nat() })) })),
  tags: seldom(fc.array(fc.string({ unit: 'grapheme' }))),
});

export const body = fc.oneof(
  timer.map((v) => bytesOf(v)),
  fc.array(timer, { maxLength: 3 }).map((v) => bytesOf(v)),
  value.map((v) => bytesOf(v ?? null)),
  fc.json().map((text) => bytesOf(text)),
  fc.string().map((text) => bytesOf(text)),
  fc.uint8Array({ maxLength: 200 }),
);
export const method = fc.oneof(
  fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE'),
  fc.string(),
);
export const path = fc.oneof(
  fc.constantFrom(
    '/timers',
    '/timers/',
    '/timers/batch',
    `/timers/${id}`,
    '/timers/x',
    '/dead-letters',
    `/dead-letters/${id}`,
    `/dead-letters/${id}/redeliver`,
    '/ping',
    '/readyz',
    '/metrics',
    '/openapi.json',
    '/cluster',
    '/cluster/drain',
    '/cluster/resync',
    '/',
  ),
  fc.string({ unit: 'binary' }),
  fc.webPath(),
);
export const query = fc.oneof(
  fc.webQueryParameters(),
  fc.string({ unit: 'binary' }),
  fc
    .tuple(fc.constantFrom('tag', 'state', 'limit', 'cursor'), fc.string({ unit: 'binary' }))
    .map(([name, text]) => `${name}=${text}`),
);
export const headers = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      'accept',
      'content-type',
      'idempotency-key',
      'content-encoding',
      'x-request-id',
    ),
    fc.string(),
  ),
  fc.oneof(fc.constantFrom('application/json', 'application/x-ndjson', 'gzip'), fc.string()),
  { noNullPrototype: true },
);

const line = fc.tuple(
  fc.oneof(fc.constantFrom('GET', 'POST', 'PUT'), fc.string()),
  fc.oneof(fc.constantFrom('/timers', '/ping', `/timers/${id}`), fc.string()),
  fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'x', ''),
);
const header = fc.oneof(
  fc.constantFrom(
    'host: localhost',
    'content-length: 3',
    'content-length: 99999999999999999999',
    'content-length: 0x10',
    'transfer-encoding: chunked',
    'transfer-encoding: x',
    'expect: 100-continue',
    'expect: x',
    'connection: close',
    'connection: upgrade',
    'upgrade: x',
  ),
  fc.string(),
);
/** Bytes of one connection: nearly a request, or random. */
export const raw = fc.oneof(
  fc
    .tuple(line, fc.array(header, { maxLength: 5 }), fc.string({ unit: 'binary', maxLength: 50 }))
    .map(([first, rest, tail]) => Buffer.from([first.join(' '), ...rest, '', tail].join('\r\n'))),
  fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)),
);
