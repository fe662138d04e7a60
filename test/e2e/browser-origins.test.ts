/** Pages of other origins in a real browser: listed ones can use a member, all others cannot, under any name. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumFlags, chromiumForTests } from '../../scripts/chromium.ts';
import { serve, type ServedMember } from './cli-process.ts';
import { type App, appFiles, bundledClient } from './support/bundled-client.ts';
import { listening } from './support/listening.ts';

const executable = chromiumForTests();
/** A name that its owner lets point to this machine. */
const rebound = 'rebound.example';

async function webServer(library: string): Promise<Server> {
  const files = appFiles(library);
  const server = createServer(({ url = '' }, outgoing) => {
    const [type, text] = files[url] ?? ['text/plain', ''];
    outgoing.setHeader('content-type', type);
    outgoing.end(text);
  });
  await listening(server);
  return server;
}

describe.skipIf(executable === null)('a page of another origin', () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  let listing: ServedMember;
  let other: ServedMember;

  beforeAll(async () => {
    server = await webServer(await bundledClient());
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const quiet = ['--memory', '--log-level', 'error'];
    listing = await serve([...quiet, '--access-origins', origin]);
    other = await serve(quiet);
    const args = [...chromiumFlags, `--host-resolver-rules=MAP ${rebound} 127.0.0.1`];
    browser = await chromium.launch({ executablePath: executable ?? '', args });
    page = await browser.newPage();
    await page.goto(`${origin}/page`);
    await page.waitForFunction(() => 'carillon' in window);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    server?.close();
    server?.closeAllConnections();
    await Promise.all([listing, other].map((member) => member?.process.kill('SIGTERM')));
  });

  test('uses a member that lists it as from anywhere else', async () => {
    const seen = await page.evaluate(async (url) => {
      const { Carillon, ApiError } = (window as never as App).carillon;
      const client = new Carillon({ members: [url], refresh: null });
      const { id, copies } = await client.set({ in: '1h', uri: 'http://127.0.0.1:1/' });
      const state = (await client.get(id))?.state;
      await client.cancel(id);
      const refusal: unknown = await client
        .set({ in: '1s', uri: 'ftp://x' })
        .catch((error: unknown) => error);
      return { copies, state, status: refusal instanceof ApiError ? refusal.status : null };
    }, listing.url);
    expect(seen).toEqual({ copies: { have: 1, wanted: 1 }, state: 'pending', status: 400 });
  });

  test('can do nothing at a member that does not: neither read nor, without being told, set', async () => {
    const read = await page.evaluate(
      (url) =>
        fetch(`${url}/timers`).then(
          () => 'read',
          () => 'refused',
        ),
      other.url,
    );
    expect(read).toBe('refused');
    // No preflight comes before this, and the page learns nothing of the answer.
    await page.evaluate(
      (url) =>
        fetch(`${url}/timers`, {
          method: 'POST',
          mode: 'no-cors',
          body: '{"timing":{"interval":3600},"callback":{"http":{"uri":"http://127.0.0.1:1/"}}}',
        }),
      other.url,
    );
    const { timers } = (await (await fetch(`${other.url}/timers`)).json()) as { timers: unknown[] };
    expect(timers).toEqual([]);
  });

  test('whose name points to the member reads nothing (DNS rebinding)', async () => {
    const { port } = new URL(other.url);
    const visit = await browser.newPage();
    const answer = await visit.goto(`http://${rebound}:${port}/timers`);
    expect(answer?.status()).toBe(403);
    // The dashboard itself, where its page came from.
    expect((await visit.goto(`${other.url}/`))?.status()).toBe(200);
    const status = await visit.evaluate(async () => (await fetch('/timers')).status);
    expect(status).toBe(200);
    await visit.close();
  });
});
