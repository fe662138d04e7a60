import { expect, test } from 'vitest';
import { testApi } from './stand-in.contract.ts';

const uri = 'http://receiver.example/pop';
const timing = { interval: 30 };
const callback = { http: { uri, opaque: 'text' } };
const good = { timing, callback };

const withTiming = (members: object) => ({ timing: members, callback });
const withHttp = (members: object) => ({ timing, callback: { http: { uri, ...members } } });
const withRetry = (retry: object) => ({ timing, callback: { ...callback, retry } });
const withOnFailure = (told: unknown) => ({
  timing,
  callback: { ...callback, 'on-failure': told },
});
const json = (text: string) => text;
const days = '2026-01-01T00:00:10Z';

/** The fault, the body, and the pointer the answer must carry (undefined: none, the body is no JSON value). */
const rows: [string, unknown, string | undefined][] = [
  ['no body', '', undefined],
  ['bad JSON', '{"timing":', undefined],
  ['two JSON values', '{}{}', undefined],
  ['a byte order mark', '\ufeff{}', undefined],
  ['NaN', '{"timing":{"interval":NaN}}', undefined],
  ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), undefined],
  ['nested too deep', '['.repeat(33) + ']'.repeat(33), undefined],
  ['nested too deep behind texts', `["\\"","\\\\",${'['.repeat(32)}${']'.repeat(33)}`, undefined],
  ['nested far too deep', '[{"a":'.repeat(20_000), undefined],
  ['more values than a timer has use for', `[${'0,'.repeat(10_000)}0]`, undefined],
  ['an array', [], ''],
  ['null', null, ''],
  ['a number', 7, ''],
  ['a text', '"x"', ''],
  ['an empty object', {}, '/timing'],
  ['timing missing', { callback }, '/timing'],
  ['timing null', { timing: null, callback }, '/timing'],
  ['timing a list', { timing: [], callback }, '/timing'],
  ['timing empty', withTiming({}), '/timing/interval'],
  ['interval null', withTiming({ interval: null }), '/timing/interval'],
  ['interval a text', withTiming({ interval: '30' }), '/timing/interval'],
  ['interval negative', withTiming({ interval: -1 }), '/timing/interval'],
  [
    'interval infinite',
    json(`{"timing":{"interval":1e999},"callback":{"http":{"uri":"${uri}"}}}`),
    '/timing/interval',
  ],
  ['interval beyond 100 years', withTiming({ interval: 3_155_760_001 }), '/timing/interval'],
  ['repeat-for negative', withTiming({ interval: 1, 'repeat-for': -1 }), '/timing/repeat-for'],
  ['repeat-for a text', withTiming({ interval: 1, 'repeat-for': '9' }), '/timing/repeat-for'],
  [
    'repeat-for beyond 100 years',
    withTiming({ interval: 1, 'repeat-for': 4e9 }),
    '/timing/repeat-for',
  ],
  ['interval 0 repeated', withTiming({ interval: 0, 'repeat-for': 1 }), '/timing/repeat-for'],
  ['interval 0 with a count', withTiming({ interval: 0, count: 2 }), '/timing/count'],
  ['interval 0 for ever', withTiming({ interval: 0, forever: true }), '/timing/forever'],
  ['interval 0 until', withTiming({ interval: 0, until: days }), '/timing/until'],
  ['interval and at', withTiming({ interval: 1, at: days }), '/timing/at'],
  ['interval and cron', withTiming({ interval: 1, cron: '* * * * *' }), '/timing/cron'],
  ['at and cron', withTiming({ at: days, cron: '* * * * *' }), '/timing/cron'],
  ['two endings', withTiming({ interval: 1, 'repeat-for': 5, count: 3 }), '/timing/count'],
  ['until before the first pop', withTiming({ interval: 11, until: days }), '/timing/until'],
  ['until not an instant', withTiming({ interval: 1, until: 'tomorrow' }), '/timing/until'],
  ['count 0', withTiming({ interval: 1, count: 0 }), '/timing/count'],
  ['count a fraction', withTiming({ interval: 1, count: 1.5 }), '/timing/count'],
  ['forever a text', withTiming({ interval: 1, forever: 'yes' }), '/timing/forever'],
  ['at a number', withTiming({ at: 5 }), '/timing/at'],
  ['at without a zone', withTiming({ at: '2026-01-01T00:00:00' }), '/timing/at'],
  ['at on 30 February', withTiming({ at: '2026-02-30T00:00:00Z' }), '/timing/at'],
  ['at in hour 24', withTiming({ at: '2026-02-03T24:00:00Z' }), '/timing/at'],
  ['at beyond 100 years', withTiming({ at: '2126-02-01T00:00:00Z' }), '/timing/at'],
  ['at repeated', withTiming({ at: days, 'repeat-for': 5 }), '/timing/repeat-for'],
  ['at for ever', withTiming({ at: days, forever: true }), '/timing/forever'],
  ['timezone without cron', withTiming({ interval: 1, timezone: 'UTC' }), '/timing/timezone'],
  ['cron without an end', withTiming({ cron: '* * * * *' }), '/timing/forever'],
  ['cron, forever false', withTiming({ cron: '* * * * *', forever: false }), '/timing/forever'],
  ['cron nonsense', withTiming({ cron: 'soon', forever: true }), '/timing/cron'],
  ['cron out of range', withTiming({ cron: '99 * * * *', forever: true }), '/timing/cron'],
  ['cron empty', withTiming({ cron: '', forever: true }), '/timing/cron'],
  ['cron an instant', withTiming({ cron: '2027-01-01T00:00:00Z', count: 1 }), '/timing/cron'],
  ['cron that never comes', withTiming({ cron: '0 0 30 2 *', forever: true }), '/timing/cron'],
  ['cron after its end', withTiming({ cron: '0 12 * * *', until: days }), '/timing/cron'],
  [
    'cron in an unknown zone',
    withTiming({ cron: '* * * * *', count: 1, timezone: 'Mars/Base' }),
    '/timing/timezone',
  ],
  [
    'cron in a strange zone',
    withTiming({ cron: '* * * * *', count: 1, timezone: '+1' }),
    '/timing/timezone',
  ],
  ['cron too long', withTiming({ cron: `${'1,'.repeat(200)}1 * * * *`, count: 1 }), '/timing/cron'],
  ['callback missing', { timing }, '/callback'],
  ['callback a text', { timing, callback: 'x' }, '/callback'],
  ['http missing', { timing, callback: {} }, '/callback/http'],
  ['uri missing', { timing, callback: { http: {} } }, '/callback/http/uri'],
  ['uri a number', withHttp({ uri: 5 }), '/callback/http/uri'],
  ['uri empty', withHttp({ uri: '' }), '/callback/http/uri'],
  ['uri relative', withHttp({ uri: '/pop' }), '/callback/http/uri'],
  ['uri without slashes', withHttp({ uri: 'http:receiver' }), '/callback/http/uri'],
  ['uri without a host', withHttp({ uri: 'http://' }), '/callback/http/uri'],
  ['uri ftp', withHttp({ uri: 'ftp://receiver/x' }), '/callback/http/uri'],
  ['uri file', withHttp({ uri: 'file:///etc/passwd' }), '/callback/http/uri'],
  ['uri with credentials', withHttp({ uri: 'http://user:secret@receiver/' }), '/callback/http/uri'],
  ['uri with a user', withHttp({ uri: 'http://user@receiver/' }), '/callback/http/uri'],
  ['uri with empty credentials', withHttp({ uri: 'http://@receiver/' }), '/callback/http/uri'],
  ['uri with a bad port', withHttp({ uri: 'http://receiver:99999/' }), '/callback/http/uri'],
  ['uri with port 0', withHttp({ uri: 'http://receiver:0/' }), '/callback/http/uri'],
  ['uri with a bad address', withHttp({ uri: 'http://1.2.3.400/' }), '/callback/http/uri'],
  ['uri with a space', withHttp({ uri: 'http://receiver/a b' }), '/callback/http/uri'],
  ['uri with a line break', withHttp({ uri: 'http://receiver/\r\nx' }), '/callback/http/uri'],
  ['uri with a backslash', withHttp({ uri: 'http://receiver\\@evil/' }), '/callback/http/uri'],
  ['uri with a lone surrogate', withHttp({ uri: 'http://receiver/\ud800' }), '/callback/http/uri'],
  ['uri too long', withHttp({ uri: `http://receiver/${'x'.repeat(2048)}` }), '/callback/http/uri'],
  ['opaque a number', withHttp({ opaque: 5 }), '/callback/http/opaque'],
  ['opaque null', withHttp({ opaque: null }), '/callback/http/opaque'],
  ['opaque too long', withHttp({ opaque: 'x'.repeat(65_537) }), '/callback/http/opaque'],
  ['opaque too long in UTF-8', withHttp({ opaque: 'ä'.repeat(32_769) }), '/callback/http/opaque'],
  [
    'opaque with a lone surrogate',
    json(`{"timing":{"interval":1},"callback":{"http":{"uri":"${uri}","opaque":"\\ud800"}}}`),
    '/callback/http/opaque',
  ],
  ['method unknown', withHttp({ method: 'BREW' }), '/callback/http/method'],
  ['method CONNECT', withHttp({ method: 'CONNECT' }), '/callback/http/method'],
  ['method in small letters', withHttp({ method: 'post' }), '/callback/http/method'],
  ['headers a list', withHttp({ headers: [] }), '/callback/http/headers'],
  ['a header that is no text', withHttp({ headers: { a: 1 } }), '/callback/http/headers/a'],
  [
    'a header with a bad name',
    withHttp({ headers: { 'a b/c': 'x' } }),
    '/callback/http/headers/a b~1c',
  ],
  [
    'a header with a line break',
    withHttp({ headers: { a: 'x\r\ny: z' } }),
    '/callback/http/headers/a',
  ],
  ['the header host', withHttp({ headers: { Host: 'x' } }), '/callback/http/headers/Host'],
  [
    'the header content-length',
    withHttp({ headers: { 'Content-Length': '1' } }),
    '/callback/http/headers/Content-Length',
  ],
  [
    'the header transfer-encoding',
    withHttp({ headers: { 'transfer-encoding': 'chunked' } }),
    '/callback/http/headers/transfer-encoding',
  ],
  [
    'the header connection',
    withHttp({ headers: { connection: 'close' } }),
    '/callback/http/headers/connection',
  ],
  [
    'a header of ours',
    withHttp({ headers: { 'X-Sequence-Number': '1' } }),
    '/callback/http/headers/X-Sequence-Number',
  ],
  [
    'another header of ours',
    withHttp({ headers: { 'x-timer-id': '1' } }),
    '/callback/http/headers/x-timer-id',
  ],
  [
    'a signature of ours',
    withHttp({ headers: { 'webhook-signature': '1' } }),
    '/callback/http/headers/webhook-signature',
  ],
  [
    'an attribute of a CloudEvent',
    withHttp({ headers: { 'CE-Type': '1' } }),
    '/callback/http/headers/CE-Type',
  ],
  ['form unknown', withHttp({ form: 'xml' }), '/callback/http/form'],
  [
    'a form that a line of a batch cannot have',
    withHttp({ form: 'cloudevents', batch: true }),
    '/callback/http/form',
  ],
  ['on-failure a text', withOnFailure(uri), '/callback/on-failure'],
  ['on-failure without a uri', withOnFailure({}), '/callback/on-failure/uri'],
  ['on-failure to a file', withOnFailure({ uri: 'file:///x' }), '/callback/on-failure/uri'],
  ...[
    'x_sequence_number',
    'X-Sequence_Number',
    'x_timer_id',
    'x.timer.due',
    'webhook_signature',
    'content_length',
    'transfer_encoding',
    'Proxy_Authorization',
  ].map((name): [string, unknown, string] => [
    `the header ${name}, which many receivers read as if it had hyphens`,
    withHttp({ headers: { [name]: '1' } }),
    `/callback/http/headers/${name}`,
  ]),
  ['a header twice', withHttp({ headers: { a: '1', A: '2' } }), '/callback/http/headers/A'],
  [
    'too many headers',
    withHttp({ headers: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`h${i}`, 'x'])) }),
    '/callback/http/headers',
  ],
  ['too long headers', withHttp({ headers: { a: 'x'.repeat(4096) } }), '/callback/http/headers'],
  ['timeout 0', withHttp({ timeout: 0 }), '/callback/http/timeout'],
  ['timeout negative', withHttp({ timeout: -5 }), '/callback/http/timeout'],
  ['timeout a text', withHttp({ timeout: '5s' }), '/callback/http/timeout'],
  ['timeout too long', withHttp({ timeout: 121 }), '/callback/http/timeout'],
  ['retry a number', { timing, callback: { ...callback, retry: 3 } }, '/callback/retry'],
  ['retry limit negative', withRetry({ limit: -1 }), '/callback/retry/limit'],
  ['retry limit beyond 100 years', withRetry({ limit: 1e10 }), '/callback/retry/limit'],
  ['retry base a text', withRetry({ base: '1' }), '/callback/retry/base'],
  ['retry max-wait below base', withRetry({ base: 10, 'max-wait': 5 }), '/callback/retry/max-wait'],
  ['retry max-attempts 0', withRetry({ 'max-attempts': 0 }), '/callback/retry/max-attempts'],
  ['reliability a list', { ...good, reliability: [] }, '/reliability'],
  [
    'factor 0',
    { ...good, reliability: { 'replication-factor': 0 } },
    '/reliability/replication-factor',
  ],
  [
    'factor 17',
    { ...good, reliability: { 'replication-factor': 17 } },
    '/reliability/replication-factor',
  ],
  [
    'factor a fraction',
    { ...good, reliability: { 'replication-factor': 1.5 } },
    '/reliability/replication-factor',
  ],
  [
    'factor a text',
    { ...good, reliability: { 'replication-factor': '2' } },
    '/reliability/replication-factor',
  ],
  ['statistics a text', { ...good, statistics: 'x' }, '/statistics'],
  ['tag-info an object', { ...good, statistics: { 'tag-info': {} } }, '/statistics/tag-info'],
  [
    'too much tag-info',
    {
      ...good,
      statistics: { 'tag-info': Array.from({ length: 17 }, () => ({ type: 'A', count: 1 })) },
    },
    '/statistics/tag-info',
  ],
  ['tags a text', { ...good, tags: 'a' }, '/tags'],
  ['a tag that is no text', { ...good, tags: ['a', 1] }, '/tags/1'],
  ['an empty tag', { ...good, tags: [''] }, '/tags/0'],
  ['a tag too long', { ...good, tags: ['a', 'ä'.repeat(65)] }, '/tags/1'],
  [
    'a tag with a lone surrogate',
    json(`{"timing":{"interval":1},"callback":{"http":{"uri":"${uri}"}},"tags":["\\udc00"]}`),
    '/tags/0',
  ],
  ['too many tags', { ...good, tags: Array.from({ length: 17 }, (_, i) => `t${i}`) }, '/tags'],
];

const id = '00000000000000190000000100000002-2';

test.each(rows)(
  '%s: 400 with a pointer from POST and PUT, and nothing is set',
  async (_, body, pointer) => {
    const api = testApi();
    for (const [method, path] of [
      ['POST', '/timers'],
      ['PUT', `/timers/${id}`],
    ] as const) {
      const response = await api.ask(method, path, { body });
      const problem = JSON.parse(response.body) as Record<string, unknown>;
      expect([response.status, problem['pointer']]).toEqual([400, pointer]);
      expect(problem).toMatchObject({ type: 'urn:carillon:problem:bad_request', status: 400 });
      expect(problem['detail']).toMatch(/^[A-Z].*\.$/s);
      expect(response.headers).toContain('application/problem+json');
    }
    expect(api.service.sets).toEqual([]);
    expect(api.bugs).toEqual([]);
  },
);

test.each(rows)(
  '%s: the same problem inside a batch, and the items around it are set',
  async (_, body, pointer) => {
    const api = testApi();
    const line =
      typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    // In NDJSON an empty line is no item, and a line break ends one.
    if (line === '') return;
    const parts = [JSON.stringify(good), '\n', line, '\n', JSON.stringify(good)];
    const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)));
    const headers = { 'content-type': 'application/x-ndjson' };
    const response = await api.ask('POST', '/timers/batch', { headers, body: bytes });
    const outcomes = response.body
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as object);
    expect(outcomes).toMatchObject([{ status: 200 }, { status: 400 }, { status: 200 }]);
    expect((outcomes[1] as { pointer?: string }).pointer).toBe(pointer);
    expect(api.service.sets).toHaveLength(2);
  },
);

test('a factor that differs from the id is refused; the same one is not', async () => {
  const api = testApi();
  const body = (factor: number) => ({ ...good, reliability: { 'replication-factor': factor } });
  const refused = await api.ask('PUT', `/timers/${id}`, { body: body(3) });
  expect([refused.status, JSON.parse(refused.body)]).toMatchObject([
    400,
    { pointer: '/reliability/replication-factor' },
  ]);
  expect(api.service.sets).toEqual([]);
  expect((await api.ask('PUT', `/timers/${id}`, { body: body(2) })).status).toBe(200);
});

test('limits come from the configuration', async () => {
  const api = testApi({
    'limits.uriBytesMax': 30,
    'limits.opaqueBytesMax': 2,
    'limits.jsonDepthMax': 4,
  });
  const status = async (body: unknown) => (await api.ask('POST', '/timers', { body })).status;
  expect(await status(withHttp({ opaque: 'ab' }))).toBe(200);
  expect(await status(withHttp({ opaque: 'abc' }))).toBe(400);
  expect(await status(withHttp({ uri: `${uri}/more` }))).toBe(400);
  expect(await status({ ...withHttp({}), other: [[[1]]] })).toBe(200);
  expect(await status({ ...withHttp({}), other: [[[[1]]]] })).toBe(400);
});

test.each([
  ['', 'The body is empty; it must be a timer as JSON, with "timing" and "callback".'],
  ['{"timing":', 'The body is not valid JSON: Unexpected end of JSON input.'],
  [
    withTiming({ at: '2027-02-30T00:00:00Z' }),
    'The instant has the day 2027-02-30, which does not exist.',
  ],
  [
    withTiming({ at: '2027-02-03T24:00:00Z' }),
    'The instant has a time of day or an offset that does not exist.',
  ],
  [
    withTiming({ cron: '0 9 * *', forever: true }),
    'The cron pattern has 4 fields; it needs 5, "minute hour day month weekday", or 6 with the second in front.',
  ],
  [
    withTiming({ cron: '0 0 9 * * * 2027', forever: true }),
    'The cron pattern has 7 fields; it needs 5, "minute hour day month weekday", or 6 with the second in front.',
  ],
  [
    withTiming({ cron: '@reboot', forever: true }),
    'The cron pattern is none of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly.',
  ],
  [
    withTiming({ cron: '', forever: true }),
    'The cron pattern is empty; "0 9 * * *" is every day at 9:00.',
  ],
  [
    withTiming({ cron: '0\t9 * * *', forever: true }),
    'The cron pattern has a tab or line break; put spaces there.',
  ],
  [
    withTiming({ cron: '0 9 * * !', forever: true }),
    'The cron pattern has the character "!", which no pattern has.',
  ],
  [
    withTiming({ cron: '0 9 * 13 *', forever: true }),
    'The cron pattern has "13" as its month; allowed are 1-12, JAN-DEC, and *, lists (1,15), ranges upwards (1-5) and steps (*/5).',
  ],
  [withTiming({ at: '3 Feb' }), 'The instant must look like 2026-01-31T12:00:00Z (RFC 3339).'],
])('%j is answered with: %s', async (body, detail) => {
  for (const path of ['/timers', '/timers/preview']) {
    const answer = await testApi().ask('POST', path, { body });
    expect(JSON.parse(answer.body)).toMatchObject({ status: 400, detail });
  }
});
