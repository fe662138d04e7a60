/**
 * Takes the pictures of the dashboard in `docs/images/` from a real cluster under a light load: `npm run screenshots`.
 * They look best where the font Inter is installed (Debian: fonts-inter). Locks are left as they are without etcd.
 * `npm run screenshots -- trouble` takes the pictures of failing receivers and of the form only, `-- timeline` the ones
 * of a timeline with a fail-over, `-- search` the ones of a search over a million timers, `-- table` the ones of a
 * table in a pool of disks, `-- overview` all others.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TimerSpec } from '@carillon/client';
import type { Locator, Page } from 'playwright-core';
import { CliProcess } from '../test/e2e/cli-process.ts';
import { DashboardScene } from '../test/e2e/dashboard-scene.ts';
import { chromiumForTests } from './chromium.ts';
import { etcdForTests } from './etcd.ts';
import { EtcdCluster } from './etcd-cluster.ts';
import { takeSearch } from './screenshots/search.ts';
import type { PictureOptions } from './screenshots/shapes.ts';
import { takeTable } from './screenshots/table.ts';
import { takeTimeline } from './screenshots/timeline.ts';
import { takeTrouble } from './screenshots/trouble.ts';

const images = join(import.meta.dirname, '../docs/images');
/** How long the charts are filled before the pictures are taken. */
const loadMs = 120_000;
/** How long the members are left alone after their start. */
const settleMs = 15_000;
const width = 1280;
const words = ['session', 'reminder', 'invoice', 'retry', 'lease'];

async function main(): Promise<void> {
  const executable = chromiumForTests();
  if (executable === null) return;
  const [, , which = 'all', folder = images] = process.argv;
  const parts: Readonly<Record<string, (options: PictureOptions) => Promise<void>>> = {
    trouble: takeTrouble,
    timeline: takeTimeline,
    search: takeSearch,
    table: takeTable,
    overview: ({ executable: path }) => takeOverview(path),
  };
  const chosen = Object.entries(parts).filter(([name]) => which === 'all' || which === name);
  if (chosen.length === 0)
    throw new Error(`Choose all or one of ${Object.keys(parts).join(', ')}, not ${which}.`);
  for (const [, take] of chosen) await take({ executable, images: folder });
}

async function takeOverview(executable: string): Promise<void> {
  const paths = etcdForTests();
  const etcd = paths === null ? null : await EtcdCluster.start({ paths });
  const endpoints = etcd?.endpoints.join() ?? '';
  const args = etcd === null ? [] : ['--locks-etcd-endpoints', endpoints];
  const zones = { ber: 'berlin', fra: 'frankfurt', muc: 'munich' };
  const members = Object.entries(zones).flatMap(([short, zone]) =>
    [1, 2].map((i) => ({ name: `${short}-${i}`, labels: { zone }, args })),
  );
  await using scene = await DashboardScene.begin(members);
  const viewport = { width, height: 900 };
  const page = await scene.open('ber-1', executable, { viewport, deviceScaleFactor: 1.25 });
  const camera = new Camera(page, scene.url('ber-1'));
  const stop = new AbortController();
  const moody = await moodyReceiver();
  // Members that have just started are late.
  await sleep(settleMs);
  const watched = await scene.client.set({
    every: '7s',
    count: 500,
    uri: `http://127.0.0.1:${(moody.address() as AddressInfo).port}/invoices`,
    opaque: '{"invoice": 4711}',
    tags: ['invoice', 'customer-17'],
    retry: { base: 400, maxWait: 900, limit: '1m' },
  });
  const locks = etcd === null ? [] : startLocks(endpoints);
  const loading = load(scene, stop.signal);
  await sleep(loadMs);
  await takeAll(camera, watched.id, etcd !== null);
  stop.abort();
  await loading;
  for (const one of locks) await one.kill('SIGTERM');
  moody.close();
  moody.closeAllConnections();
  await etcd?.stop();
}

class Camera {
  readonly page: Page;
  private readonly url: string;

  constructor(page: Page, url: string) {
    this.page = page;
    this.url = url;
  }

  /** The view once it has settled, in a window of this height. */
  async take(name: string, view: string, height: number): Promise<void> {
    await this.page.setViewportSize({ width, height });
    await this.page.goto(`${this.url}/${view}`);
    await this.shoot(name);
  }

  /** The window, or a part of the page. */
  async shoot(name: string, part: Page | Locator = this.page): Promise<void> {
    await sleep(2500);
    await part.screenshot({ path: join(images, `dashboard-${name}.png`) });
  }
}

async function takeAll(camera: Camera, timer: string, withLocks: boolean): Promise<void> {
  const { page } = camera;
  await camera.take('overview', '#/overview', 1120);
  await page.emulateMedia({ colorScheme: 'dark' });
  await camera.take('overview-dark', '#/overview', 1120);
  await page.emulateMedia({ colorScheme: 'light' });
  await camera.take('topology', '#/topology/fra-1', 1120);
  await camera.take('timers', '#/timers', 760);
  await camera.take('timer', `#/timers/${timer}`, 1080);
  if (withLocks) await camera.take('locks', '#/locks', 560);
  await camera.take('reference', 'docs#post-timers', 900);
  await camera.take('placement', '#/placement', 1240);
  await page.getByLabel('A member to add').fill('ham-1 zone=hamburg');
  await page.keyboard.press('Enter');
  await page.getByLabel('A member to add').blur();
  await camera.shoot('placement');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.evaluate(() => {
    location.hash = '#/overview';
    scrollTo(0, 0);
  });
  await camera.shoot('phone');
}

/** Refuses every fourth request, so that there is something to retry. */
async function moodyReceiver(): Promise<Server> {
  let count = 0;
  const server = createServer((_, response) => {
    response.statusCode = ++count % 4 === 0 ? 503 : 200;
    setTimeout(() => response.end(), 5 + 20 * Math.random());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

/** Some that hold a lock, and some that wait for one. */
function startLocks(endpoints: string): CliProcess[] {
  return ['nightly-export', 'nightly-export', 'billing-run', 'reindex', 'nightly-export'].map(
    (key) => new CliProcess(['lock', key, '--etcd', endpoints, '--', 'sleep', '600']),
  );
}

/** Timers of all kinds that wait, and some that pop all the time. */
async function load({ client, receiverUrl }: DashboardScene, stop: AbortSignal): Promise<void> {
  const target = (i: number) => {
    const word = words[i % words.length] ?? '';
    return { uri: `${receiverUrl}/${word}`, opaque: `${word} ${i}`, tags: [word] };
  };
  const waiting = Array.from({ length: 1500 }, (_, i): TimerSpec => {
    if (i % 7 === 3) return { every: '15m', for: '12h', ...target(i) };
    if (i % 7 === 5)
      return { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', count: 20, ...target(i) };
    if (i % 7 === 6) return { every: 60_000 + i * 500, forever: true, ...target(i) };
    return { in: 600_000 + i * 1000, ...target(i) };
  });
  await client.setMany(waiting);
  for (let round = 0; !stop.aborted; round++) {
    const burst = Math.round(24 + 12 * Math.sin(round / 9) + 8 * Math.random());
    const soon = Array.from({ length: burst }, (_, i) => ({
      in: 2000 + Math.random() * 9000,
      ...target(i),
    }));
    await client.setMany(soon).catch(() => undefined);
    await sleep(1000);
  }
}

await main();
