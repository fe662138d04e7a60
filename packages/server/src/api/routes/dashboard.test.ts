import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { afterAll, expect, test } from 'vitest';
import { Access } from '../../access/access.ts';
import { configOf } from '../../config/config.ts';
import { Metrics } from '../../metrics/metrics.ts';
import { createRouter } from './create-router.ts';
import { Dashboard } from './dashboard.ts';
import { Listener } from '../../http/listener.ts';
import { silentLog, StandIn } from '../stand-in.contract.ts';

const script = `console.log(${JSON.stringify('ü'.repeat(500))})`;
const folder = mkdtempSync(join(tmpdir(), 'carillon-dashboard-'));
mkdirSync(join(folder, 'dashboard'));
writeFileSync(join(folder, 'index.html'), '<!doctype html><title>x</title>');
writeFileSync(join(folder, 'dashboard', 'main-abc.js'), script);
writeFileSync(join(folder, 'dashboard', 'secrets.env'), 'no');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A member's HTTP side with a dashboard, on a socket. */
async function served(from = folder) {
  const config = configOf();
  const clock = new SystemClock();
  const metrics = new Metrics({ version: '1', runtime: 'x' });
  const service = new StandIn();
  const dashboard = new Dashboard({
    clock,
    self: 'n0',
    version: '1',
    factor: 2,
    knows: () => true,
    folder: from,
  });
  const routes = dashboard.routes(service, metrics);
  const fail = (error: unknown): never => {
    throw error;
  };
  const access = new Access({ clock });
  const parts = { service, sets: service, history: service, control: service };
  const options = {
    ...parts,
    access,
    config,
    metrics,
    clock,
    log: silentLog,
    version: '1',
    routes,
  };
  const router = createRouter({ ...options, bug: fail });
  const random = new SystemRandom();
  const listener = new Listener({ router, limits: config.limits, metrics, clock, random });
  const url = `http://${await listener.listen('127.0.0.1:0')}`;
  dashboard.start();
  return {
    url,
    listener,
    [Symbol.asyncDispose]: async () => {
      dashboard.stop();
      await listener.close(0);
    },
  };
}

test('the page and its files come whole, with their types and caching, zipped or not', async () => {
  await using at = await served();
  const page = await fetch(`${at.url}/`);
  expect(await page.text()).toContain('<title>x</title>');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('cache-control')).toBe('no-cache');
  for (const encoding of ['gzip', 'identity']) {
    const headers = { 'accept-encoding': encoding };
    const file = await fetch(`${at.url}/dashboard/main-abc.js`, { headers });
    expect(await file.text()).toBe(script);
    expect(file.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null);
    expect(file.headers.get('cache-control')).toContain('immutable');
  }
});

test.each([
  ['gzip;q=0', false],
  ['br, gzip; q=0.0', false],
  ['x-gzip2, deflate', false],
  ['identity, *;q=0', false],
  ['GZIP', true],
  ['br;q=1.0, gzip;q=0.1', true],
])('with Accept-Encoding: %s a file is zipped: %s', async (encoding, zipped) => {
  await using at = await served();
  const { headers } = await fetch(`${at.url}/`, { headers: { 'accept-encoding': encoding } });
  expect(headers.get('content-encoding')).toBe(zipped ? 'gzip' : null);
});

test('nothing inline and nothing from elsewhere may run, and the page cannot be framed', async () => {
  await using at = await served();
  const { headers } = await fetch(`${at.url}/`, { method: 'HEAD' });
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toMatch(/unsafe|https?:|\*|data:/);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('referrer-policy')).toBe('no-referrer');
});

test.each(['/dashboard/index.html', '/dashboard/..%2findex.html', '/dashboard/secrets.env'])(
  '%s is not served',
  async (path) => {
    await using at = await served();
    expect((await fetch(at.url + path)).status).toBe(404);
  },
);

test('without built files the answer says how to build them', async () => {
  await using at = await served(join(folder, 'nowhere'));
  const answer = await fetch(`${at.url}/`);
  expect(answer.status).toBe(404);
  expect(((await answer.json()) as { detail: string }).detail).toContain('npm run dashboard');
});

test('events flow over a socket, and a stopping member does not wait for listeners', async () => {
  await using at = await served();
  // Asked for the headers alone, the answer does not go on.
  expect((await fetch(`${at.url}/events`, { method: 'HEAD' })).status).toBe(200);
  const answer = await fetch(`${at.url}/events`);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!text.includes('event: snapshot')) {
    text += Buffer.from((await reader.read()).value ?? []).toString();
  }
  expect(text).toMatch(/^event: history\ndata: \[.*\]\n\n/);
  const startMs = performance.now();
  await at.listener.close(60_000);
  while (!(await reader.read()).done);
  expect(performance.now() - startMs).toBeLessThan(30_000);
});
