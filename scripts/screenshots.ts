/**
 * Takes the pictures of the dashboard in `docs/images/` from a real cluster under a light load: `npm run screenshots`.
 * They look best where the font Inter is installed (Debian: fonts-inter).
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TimerSpec } from '@carillon/client';
import { DashboardScene } from '../test/e2e/dashboard-scene.ts';
import { chromiumForTests } from './chromium.ts';

const images = join(import.meta.dirname, '../docs/images');
/** How long the charts are filled before the pictures are taken. */
const loadMs = 120_000;
const window = { width: 1280, height: 900 };
const words = ['session', 'reminder', 'invoice', 'retry', 'lease'];

async function main(): Promise<void> {
  const executable = chromiumForTests();
  if (executable === null) return;
  const zones = { ber: 'berlin', fra: 'frankfurt', muc: 'munich' };
  const members = Object.entries(zones).flatMap(([short, zone]) =>
    [1, 2].map((i) => ({ name: `${short}-${i}`, labels: { zone } })),
  );
  await using scene = await DashboardScene.begin(members);
  const page = await scene.open('ber-1', executable, { viewport: window, deviceScaleFactor: 1.25 });
  const show = (view: string) => page.goto(`${scene.url('ber-1')}/#/${view}`);
  const shoot = async (name: string): Promise<void> => {
    await sleep(2500);
    await page.screenshot({ path: join(images, `dashboard-${name}.png`) });
  };
  const stop = new AbortController();
  const loading = load(scene, stop.signal);
  await sleep(loadMs);
  await show('overview');
  await shoot('overview');
  await show('timers');
  await page.setViewportSize({ ...window, height: 760 });
  await shoot('timers');
  await show('placement');
  await page.setViewportSize({ ...window, height: 1240 });
  await page.getByLabel('A member to add').fill('ham-1 zone=hamburg');
  await page.keyboard.press('Enter');
  await page.getByLabel('A member to add').blur();
  await shoot('placement');
  stop.abort();
  await loading;
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
