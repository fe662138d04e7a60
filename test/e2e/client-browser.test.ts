/**
 * The client library in a real browser, bundled as a web app would bundle it, against a real member. The page reaches
 * it through its own origin, here through a small proxy as a web server in front of both would be; for pages of other
 * origins see `browser-origins.test.ts`.
 */
import { createServer, request as ask, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumFlags, chromiumForTests } from '../../scripts/chromium.ts';
import { serve, type ServedMember } from './cli-process.ts';
import { Receiver } from './receiver.ts';
import { type App, appFiles, bundledClient } from './support/bundled-client.ts';
import { listening } from './support/listening.ts';

const executable = chromiumForTests();

/** The page and the library at their paths; everything else is the member's. */
async function webServer(library: string, member: URL): Promise<Server> {
  const files = appFiles(library);
  const server = createServer((incoming, outgoing) => {
    const { method, url = '/', headers } = incoming;
    const file = files[url];
    if (file !== undefined) {
      outgoing.setHeader('content-type', file[0]);
      outgoing.end(file[1]);
      return;
    }
    const { hostname, port } = member;
    const onward = ask({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await listening(server);
  return server;
}

describe.skipIf(executable === null)('the client in a browser', () => {
  let library: string;
  let member: ServedMember;
  let server: Server;
  let browser: Browser;
  let page: Page;
  const receiver = new Receiver();
  let receiverUrl: string;

  beforeAll(async () => {
    library = await bundledClient();
    member = await serve(['--memory', '--log-level', 'error']);
    server = await webServer(library, new URL(member.url));
    receiverUrl = await receiver.listen();
    browser = await chromium.launch({ executablePath: executable ?? '', args: [...chromiumFlags] });
    page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/page`);
    await page.waitForFunction(() => 'carillon' in window);
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    server?.close();
    server?.closeAllConnections();
    receiver.close();
    await member?.process.kill('SIGTERM');
  });

  test('it is bundled without anything of Node', () => {
    expect(library).not.toMatch(/from ["']node:|require\(|process\./);
  });

  test('set, get, list, cancel, and the text of a refusal', async () => {
    const seen = await page.evaluate(async (uri) => {
      const { Carillon, ApiError } = (window as never as App).carillon;
      const client = new Carillon({ members: [location.origin], refresh: null });
      const { id, copies } = await client.set({ in: '1h', uri, tags: ['browser'] });
      const soon = await client.set({ in: '100ms', uri, opaque: 'from a browser' });
      const state = (await client.get(id))?.state;
      const listed: string[] = [];
      for await (const timer of client.list({ tag: 'browser' })) listed.push(timer.id);
      await client.cancel(id);
      const after = await client.get(id);
      const refusal: unknown = await client
        .set({ in: '1s', uri: 'ftp://x' })
        .catch((e: unknown) => e);
      const status = refusal instanceof ApiError ? refusal.status : null;
      return { id, copies, state, listed, after, status, soon: soon.id };
    }, `${receiverUrl}/x`);
    expect(seen).toMatchObject({
      copies: { have: 1, wanted: 1 },
      state: 'pending',
      listed: [seen.id],
      after: null,
      status: 400,
    });
    await receiver.received(1);
    expect(receiver.callbacks[0]?.opaque).toBe('from a browser');
  });

  test('a receiver, as in a service worker: signatures are checked, duplicates dropped', async () => {
    const seen = await page.evaluate(async () => {
      const { receiver: receiverOf } = (window as never as App).carillon;
      const key = new Uint8Array(32).fill(7);
      const secret = `whsec_${btoa(String.fromCharCode(...key))}`;
      const popped: string[] = [];
      const receive = receiverOf((pop) => void popped.push(pop.opaque), { secret });
      const timestamp = String(Math.floor(Date.now() / 1000));
      const hmac = { name: 'HMAC', hash: 'SHA-256' };
      const imported = await crypto.subtle.importKey('raw', key, hmac, false, ['sign']);
      const signed = new TextEncoder().encode(`pop-1.${timestamp}.order 17`);
      const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', imported, signed));
      const signature = btoa(String.fromCharCode(...bytes));
      const callback = (body: string) =>
        new Request('/callbacks', {
          method: 'POST',
          body,
          headers: {
            'x-timer-id': '0d1e1d1ab81140010000204080102040-2',
            'x-sequence-number': '1',
            'webhook-id': 'pop-1',
            'webhook-timestamp': timestamp,
            'webhook-signature': `v1,${signature}`,
          },
        });
      const answers = [
        await receive(callback('order 17')),
        await receive(callback('order 17')),
        await receive(callback('order 18')),
      ];
      return { popped, statuses: answers.map(({ status }) => status) };
    });
    expect(seen).toEqual({ popped: ['order 17'], statuses: [200, 200, 401] });
  });
});
