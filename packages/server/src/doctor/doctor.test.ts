/** The doctor of a whole member, and the bundle: none of the secrets that are planted here gets into it. */
import { afterEach, expect, test } from 'vitest';
import { configOf } from '../config/config.ts';
import { type OneMember, startOne, timerBody } from '../testing/one-member.ts';

let one: OneMember;
afterEach(() => one.stop());

interface Diagnosis {
  verdict: string;
  findings: { id: string; weight: string; says: string; do: string; receiver?: string }[];
  members: Record<string, unknown>[];
  missing: string[];
}

async function examined(): Promise<Diagnosis> {
  const { status, body } = await one.request('GET', '/doctor');
  expect(status).toBe(200);
  return JSON.parse(body) as Diagnosis;
}

test('a member that is well says so, with notes at most', async () => {
  one = await startOne();
  await one.clock.advance(10_000);
  const { verdict, findings, members, missing } = await examined();
  expect(verdict).toBe('well');
  expect(findings.map(({ id }) => id)).toEqual(['too-few-members', 'memory-only']);
  expect(members).toMatchObject([{ name: 'n0', release: 'test', 'view-id': expect.any(String) }]);
  expect(missing).toEqual([]);
});

test('a receiver that fails and its letters are found', async () => {
  one = await startOne();
  one.receivers.script = () => 500;
  const retry = { 'max-attempts': 1 };
  const { timing, callback } = timerBody(5, {
    uri: 'http://shop.test/pay?key=s3cret',
    repeatFor: 600,
  });
  await one.request('POST', '/timers', { timing, callback: { ...callback, retry } });
  await one.clock.advance(60_000);
  const { verdict, findings } = await examined();
  expect(verdict).toBe('look');
  expect(findings.map(({ id }) => id)).toContain('dead-letters');
  const failing = findings.find(({ id }) => id === 'destination-failing');
  expect(failing?.says).toContain('http://shop.test (namespace default)');
  expect(failing?.receiver).toBe('http://shop.test');
  expect(JSON.stringify(findings)).not.toContain('s3cret');
});

test('the bundle holds no secret, no opaque, no id, and of URLs the origin alone', async () => {
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const planted = {
    path: '/planted-path',
    query: 'planted-query',
    opaque: 'planted-opaque',
    tag: 'planted-tag',
    header: 'planted-header',
    file: '/planted/secret-file',
    word: 'planted-words-of-the-receiver',
  };
  const uri = `http://shop.test${planted.path}?k=${planted.query}`;
  const values = new Map<string, unknown>([
    ['callbacks.signingSecrets', [secret]],
    ['cluster.secretFile', planted.file],
    ['etcd.user', planted.header],
    [
      'namespaces',
      { default: { events: { uri: `${uri}&e=1`, kinds: ['dead-letter'], form: 'plain' } } },
    ],
  ]);
  one = await startOne({ config: configOf(values) });
  one.receivers.script = () => ({
    kind: 'answer',
    status: 500,
    retryAfterMs: null,
    said: planted.word,
  });
  const body = {
    timing: { interval: 1, 'repeat-for': 60 },
    callback: {
      http: { uri, opaque: planted.opaque, headers: { authorization: planted.header } },
      retry: { 'max-attempts': 1 },
    },
    tags: [planted.tag],
  };
  await one.request('POST', '/timers', body);
  await one.clock.advance(90_000);
  const { status, body: text } = await one.request('GET', '/doctor/bundle');
  expect(status).toBe(200);
  for (const [, value] of Object.entries({ ...planted, secret })) expect(text).not.toContain(value);
  const bundle = JSON.parse(text) as { config: Record<string, unknown>; metrics: string[] };
  expect(Object.keys(bundle)).toEqual(['doctor', 'cluster', 'metrics', 'config']);
  expect(bundle.config).toMatchObject({
    'callbacks.signingSecrets': ['(set)'],
    'cluster.secretFile': '(set)',
    'limits.connectionCountMax': expect.any(Number),
    namespaces: { default: { events: { uri: 'http://shop.test' } } },
  });
  expect(bundle.metrics.length).toBeGreaterThan(50);
});
