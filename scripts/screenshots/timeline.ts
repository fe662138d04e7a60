/**
 * Pictures of the timeline of a timer: set by one token, given up while its receiver is down, delivered again by
 * another token, and popped by a backup while the primary is gone.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newToken, type Token, tokenDigest } from '../../packages/server/src/access/token.ts';
import { renderTokens } from '../../packages/server/src/access/tokens-file.ts';
import { DashboardScene } from '../../test/e2e/dashboard-scene.ts';
import { type PictureOptions, takeShapes } from './shapes.ts';

const names = ['n0', 'n1', 'n2'];

export async function takeTimeline({ executable, images }: PictureOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-timeline-'));
  const shop = tokenFor('shop-backend');
  const night = tokenFor('night-shift');
  const tokens = join(folder, 'tokens.json');
  writeFileSync(
    tokens,
    renderTokens({ tokens: [shop.token, night.token], numberKey: 'ab'.repeat(32) }),
  );
  const receiver = await moodyReceiver();
  const members = names.map((name) => ({ name, args: ['--auth-tokens', tokens], onDisk: true }));
  await using scene = await DashboardScene.begin(members, { token: shop.text });
  const timer = await scene.client.set({
    every: '6s',
    count: 1000,
    uri: `${receiver.url}/reminders`,
    retry: { maxAttempts: 2, base: 300, maxWait: 300 },
    tags: ['reminder'],
  });
  await letterThen(scene, () => receiver.mend());
  await redeliverAll(scene.url('n0'), night.text);
  await sleep(14_000);
  const primary = (await scene.client.get(timer.id))?.replicas[0] ?? 'n0';
  const other = names.find((name) => name !== primary) ?? 'n1';
  await scene.kill(primary);
  await sleep(20_000);
  await scene.revive(primary);
  await sleep(16_000);
  const page = await scene.open(other, executable);
  await page.getByLabel('Token').fill(night.text);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('Timers pending').first().waitFor();
  await page.goto(`${scene.url(other)}/#/timers/${timer.id}`);
  await page.getByText('by backup').first().waitFor();
  // On a phone the timeline is below the definition.
  const show = () =>
    page.evaluate(() => {
      const panel = document.querySelector('.timeline')?.closest('.panel');
      if (innerWidth < 600) scrollTo(0, scrollY + (panel?.getBoundingClientRect().top ?? 0) - 70);
    });
  await takeShapes(page, images, { name: 'timeline', height: 1560, show });
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
}

function tokenFor(name: string): { readonly text: string; readonly token: Token } {
  const { id, text } = newToken((length) => randomBytes(length));
  const digest = tokenDigest(text);
  const created = '2026-01-01T00:00:00Z';
  return {
    text,
    token: { id, name, scope: 'admin', namespace: '*', digest, created, until: null },
  };
}

/** Answers 503 until it is mended. */
async function moodyReceiver() {
  let status = 503;
  const server = createServer((_, response) => {
    response.statusCode = status;
    response.end(status === 200 ? '' : 'closed for tonight');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mend: () => {
      status = 200;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function letterThen({ client }: DashboardScene, act: () => void): Promise<void> {
  while ((await client.deadLetters.summary()).total === 0) await sleep(200);
  act();
}

async function redeliverAll(url: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/dead-letters`, { headers });
  const { 'dead-letters': letters } = (await answer.json()) as { 'dead-letters': { id: string }[] };
  for (const { id } of letters) {
    await fetch(`${url}/dead-letters/${id}/redeliver`, { method: 'POST', headers });
  }
}
