/**
 * Pictures of a cluster whose receivers fail: 419 dead letters of five receivers, a failing recurring timer, the form
 * with the next pops of a cron expression, and the doctor after a member was killed.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { DashboardScene } from '../../test/e2e/dashboard-scene.ts';
import { type PictureOptions, takeShapes } from './shapes.ts';

/** Receivers, how they fail, and how many letters they have: 419 in all. */
const failing = [
  [500, 'database is down', 210],
  [503, 'no worker is free', 120],
  [404, 'no such shop', 60],
  [410, 'this customer has left', 20],
  [429, 'too many requests', 9],
] as const;

export async function takeTrouble({ executable, images }: PictureOptions): Promise<void> {
  await using scene = await DashboardScene.begin([{ name: 'n0' }, { name: 'n1' }, { name: 'n2' }]);
  const receivers = await Promise.all(
    failing.map(([status, says]) => failingReceiver(status, says)),
  );
  const page = await scene.open('n0', executable);
  const timer = await setAll(scene, receivers.map(originOf));
  const show = (hash: string) => page.goto(`${scene.url('n0')}/${hash}`);
  await show('#/dead-letters');
  await page.getByText('419 letters').waitFor({ timeout: 60_000 });
  await takeShapes(page, images, { name: 'dead-letters', height: 900 });
  await show(`#/timers/${timer}`);
  await page.getByText('Its dead letter').waitFor({ timeout: 60_000 });
  await takeShapes(page, images, { name: 'failing', height: 1000 });
  await show('#/timers/new');
  await fill(page);
  await takeShapes(page, images, { name: 'form', height: 860 });
  await takeDoctor(scene, page, images);
  for (const receiver of receivers) {
    receiver.close();
    receiver.closeAllConnections();
  }
}

/** The doctor of a cluster that lacks a member, one shape of it. */
async function takeDoctor(scene: DashboardScene, page: Page, images: string): Promise<void> {
  await scene.kill('n2');
  // Room for ten findings, and the facts of the members below.
  await page.setViewportSize({ width: 1440, height: 1340 });
  await page.emulateMedia({ colorScheme: 'light' });
  await page.goto(`${scene.url('n0')}/#/doctor`);
  await page.getByText('n2 is in the view and does not answer').waitFor({ timeout: 60_000 });
  await page.getByText('Its dead letters').first().waitFor({ timeout: 120_000 });
  await page.screenshot({ path: join(images, 'dashboard-doctor.png') });
}

async function setAll({ client }: DashboardScene, origins: readonly string[]): Promise<string> {
  const retry = { maxAttempts: 1 };
  const letters = failing.flatMap(([, , count], i) =>
    Array.from({ length: count }, (_, n) => ({
      in: 50 + n,
      uri: `${origins[i]}/shops/${i + 1}/orders/${4711 + n}/reminder?customer=17`,
      opaque: JSON.stringify({ order: 4711 + n }),
      retry,
    })),
  );
  await client.setMany(letters);
  const { id } = await client.set({
    every: '15s',
    count: 10_000,
    uri: `${origins[0]}/invoices/due?tenant=acme`,
    opaque: JSON.stringify({ tenant: 'acme', kind: 'invoice-due', items: [17, 18] }),
    headers: { 'content-type': 'application/json' },
    tags: ['invoices', 'tenant-acme'],
    retry: { maxAttempts: 2, base: 500 },
  });
  return id;
}

async function fill(page: Page): Promise<void> {
  await page.getByLabel('By cron').check();
  await page.getByLabel('Cron expression').fill('0 9 * * 1-5');
  await page.getByLabel('Time zone').fill('Europe/Berlin');
  await page.getByLabel('How often').selectOption('forever');
  await page.getByLabel('Callback address').fill('https://shop.example/reports/daily');
  await page.getByLabel('Opaque text').fill('{\n  "report": "sales",\n  "for": "berlin"\n}');
  await page.getByRole('button', { name: 'Add a header' }).click();
  await page.getByLabel('Name of header 1').fill('content-type');
  await page.getByLabel('Value of header 1').fill('application/json');
  await page.getByLabel('Tags').fill('reports berlin');
  await page.getByLabel('Tags').press('Enter');
  await page.getByText('The next 5 pops').waitFor();
}

async function failingReceiver(status: number, says: string): Promise<Server> {
  const server = createServer((_, response) => {
    response.statusCode = status;
    response.end(says);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
