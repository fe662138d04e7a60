/**
 * Pops that fail, as clients read of them: the answer of the receiver, the class of the failure, the way to the dead
 * letter.
 */
import { expect, test } from 'vitest';
import { configOf } from './config/config.ts';
import { header, startOne, timerBody } from './testing/one-member.ts';

type Json = Record<string, unknown>;

const down = { kind: 'answer', status: 500, retryAfterMs: null, said: 'database is down' } as const;

/** A member whose receiver fails in the same way every time. */
async function failing(options: Parameters<typeof startOne>[0] = {}) {
  const one = await startOne(options);
  one.receivers.script = () => down;
  const read = async (path: string): Promise<Json> =>
    JSON.parse((await one.request('GET', path)).body) as Json;
  const set = async (body: Json): Promise<string> =>
    header(await one.request('POST', '/timers', body), 'location') ?? '';
  return { ...one, read, set };
}

const twice = { retry: { 'max-attempts': 2, base: 0.1 } };
const givenUp = (interval: number, more: { repeatFor?: number } = {}): Json => {
  const body = timerBody(interval, more) as { callback: object };
  return { ...body, callback: { ...body.callback, ...twice } };
};

test('an attempt that failed tells its class and the first words of the answer', async () => {
  const { read, set, clock } = await failing();
  const path = await set(givenUp(10));
  await clock.advance(10_001);
  const { attempts } = (await read(`${path}/attempts`)) as { attempts: Json[] };
  expect(attempts[0]).toMatchObject({ status: 500, failure: '5xx', detail: 'database is down' });
  expect(await read(path)).toMatchObject({
    state: 'retrying',
    attempt: 1,
    'last-outcome': 500,
    'last-failure': '5xx',
    'last-detail': 'database is down',
  });
  for (const query of ['', '?order=due', '?state=retrying']) {
    const { timers } = (await read(`/timers${query}`)) as { timers: Json[] };
    expect(timers[0]).toMatchObject({ 'last-failure': '5xx', 'last-detail': 'database is down' });
  }
});

test('GET of a timer that was given up is 404 and leads to its dead letter', async () => {
  const { read, set, request, clock } = await failing();
  const path = await set(givenUp(10));
  await clock.advance(20_000);
  expect((await request('GET', path)).status).toBe(404);
  const problem = await read(path);
  expect(problem).toMatchObject({ type: 'urn:carillon:problem:not_found', ended: 'given-up' });
  const letter = await read(`/dead-letters/${String(problem['dead-letter'])}`);
  expect(letter).toMatchObject({ timer: path.split('/').at(-1), 'last-failure': '5xx' });
  expect(letter['reason']).toContain('The receiver answered 500: "database is down".');
});

test('GET of a timer whose dead letter was delivered again says that the letter is gone', async () => {
  const { read, set, request, clock, receivers } = await failing();
  const path = await set(givenUp(10));
  await clock.advance(20_000);
  receivers.script = () => 200;
  const letter = String((await read(path))['dead-letter']);
  await request('POST', `/dead-letters/${letter}/redeliver`);
  await clock.advance(1000);
  const problem = await read(path);
  expect(problem).not.toHaveProperty('dead-letter');
  expect(problem['detail']).toContain('Its dead letter was delivered again or dropped since');
});

test('GET of a timer that ended otherwise says how, and names no dead letter', async () => {
  const { read, set, request, clock, receivers } = await failing();
  receivers.script = () => 200;
  const delivered = await set(timerBody(10));
  const cancelled = await set(timerBody(10));
  await request('DELETE', cancelled);
  await clock.advance(20_000);
  expect(await read(delivered)).toMatchObject({ status: 404, ended: 'delivered', pops: 1 });
  expect(await read(cancelled)).toMatchObject({ status: 404, ended: 'cancelled', pops: 0 });
  expect(await read(delivered)).not.toHaveProperty('dead-letter');
  expect(await read('/timers/00000000000004d2-2')).not.toHaveProperty('ended');
});

test('a recurring timer whose pop was given up shows the failure and leads to the newest dead letter', async () => {
  const { read, set, clock, request, receivers } = await failing();
  const path = await set(givenUp(10, { repeatFor: 100 }));
  await clock.advance(25_000);
  const timer = await read(path);
  expect(timer).toMatchObject({ state: 'pending', sequence: 2, 'last-failure': '5xx' });
  const letter = `/dead-letters/${String(timer['dead-letter'])}`;
  expect(await read(letter)).toMatchObject({ sequence: 2 });
  await request('DELETE', letter);
  expect(await read(path)).not.toHaveProperty('dead-letter');
  receivers.script = () => 200;
  await clock.advance(10_000);
  expect(await read(path)).toMatchObject({ sequence: 3, 'last-failure': null });
});

test('the end of a timer of another namespace is not told', async () => {
  const { request, set, clock } = await failing();
  const path = await set(givenUp(10));
  await clock.advance(20_000);
  const other = await request('GET', path, undefined, { 'carillon-namespace': 'other' });
  expect(JSON.parse(other.body)).not.toHaveProperty('ended');
});

test('where a namespace wants no answers kept, neither attempts nor dead letters have a word of them', async () => {
  const namespaces = { default: { keepAnswers: false } };
  const config = configOf(new Map<string, unknown>([['namespaces', namespaces]]));
  const { read, set, clock } = await failing({ config });
  const path = await set(givenUp(10));
  await clock.advance(20_000);
  const { attempts } = (await read(`${path}/attempts`)) as { attempts: Json[] };
  expect(attempts).toMatchObject([
    { failure: '5xx', detail: '' },
    { failure: '5xx', detail: '' },
  ]);
  const letter = await read(`/dead-letters/${String((await read(path))['dead-letter'])}`);
  expect(letter['reason']).toMatch(/^The receiver answered 500\. No further/);
});

test('dead letters are counted, listed and discarded by receiver and failure', async () => {
  const { read, set, request, clock, receivers } = await failing();
  receivers.script = ({ uri }) => (uri.includes('gone') ? 410 : down);
  const timers = ['http://a.test/x', 'http://a.test/gone', 'http://b.test/'].map((uri) => ({
    ...givenUp(10),
    callback: { http: { uri }, ...twice },
  }));
  for (const body of timers) await set(body);
  await clock.advance(20_000);
  expect(await read('/dead-letters/summary')).toMatchObject({ total: 3, missing: [] });
  const { groups } = (await read('/dead-letters/summary?receiver=http://a.test')) as {
    groups: Json[];
  };
  const told = groups.map(({ receiver, failure, count }) => [receiver, failure, count]);
  expect(told.toSorted((a, b) => String(a[1]).localeCompare(String(b[1])))).toEqual([
    ['http://a.test', '4xx', 1],
    ['http://a.test', '5xx', 1],
  ]);
  const listed = async (query: string): Promise<unknown[]> =>
    (await read(`/dead-letters?${query}`))['dead-letters'] as unknown[];
  expect(await listed('receiver=http://a.test')).toHaveLength(2);
  expect(await listed('failure=410')).toHaveLength(1);
  expect(await listed('receiver=http://a.test&failure=5xx')).toHaveLength(1);
  const dropped = await request('DELETE', '/dead-letters?all=true&receiver=http://a.test');
  expect(JSON.parse(dropped.body)).toEqual({ discarded: 2, more: false });
  expect(await read('/dead-letters/summary')).toMatchObject({ total: 1 });
  expect((await request('GET', '/dead-letters?receiver=a.test')).status).toBe(400);
  expect((await request('GET', '/dead-letters?failure=*')).status).toBe(400);
});
