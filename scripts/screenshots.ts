/** Takes the pictures of the dashboard in `docs/images/` from a real cluster under load: `npm run screenshots`. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DashboardScene } from '../test/e2e/dashboard-scene.ts';
import { chromiumForTests } from './chromium.ts';

const images = process.argv[3] ?? join(import.meta.dirname, '../docs/images');
const seconds = Number(process.argv[2] ?? 150);
const all = process.argv.includes('--all');

async function main(): Promise<void> {
  const executable = chromiumForTests();
  if (executable === null) return;
  await using scene = await DashboardScene.begin([
    { name: 'ber-1', labels: { zone: 'berlin' } },
    { name: 'ber-2', labels: { zone: 'berlin' } },
    { name: 'fra-1', labels: { zone: 'frankfurt' } },
    { name: 'fra-2', labels: { zone: 'frankfurt' } },
    { name: 'muc-1', labels: { zone: 'munich' } },
    { name: 'muc-2', labels: { zone: 'munich' } },
  ]);
  const page = await scene.open('ber-1', executable, { deviceScaleFactor: 1.25 });
  const stop = load(scene);
  await sleep(seconds * 1000);
  const shoot = async (name: string, hash: string): Promise<void> => {
    await page.goto(`${scene.url('ber-1')}/${hash}`);
    await sleep(2500);
    await page.screenshot({ path: join(images, `dashboard-${name}.png`) });
  };
  await shoot('overview', '#/overview');
  await shoot('timers', '#/timers');
  await page.goto(`${scene.url('ber-1')}/#/placement`);
  await page.setViewportSize({ width: 1280, height: 1300 });
  await page.getByRole('textbox', { name: 'A member to add' }).fill('ham-1 zone=hamburg');
  await page.keyboard.press('Enter');
  await sleep(1500);
  await page.screenshot({ path: join(images, 'dashboard-placement.png') });
  await page.setViewportSize({ width: 1280, height: 900 });
  if (all) {
    await shoot('topology', '#/topology/fra-1');
    await page.goto(`${scene.url('ber-1')}/#/timers`);
    await page.locator('td a.mono').first().click();
    await sleep(1500);
    await page.screenshot({ path: join(images, 'dashboard-timer.png') });
    await shoot('new', '#/timers/new');
    await shoot('dead', '#/dead-letters');
    await shoot('locks', '#/locks');
    await page.emulateMedia({ colorScheme: 'dark' });
    await shoot('dark', '#/overview');
    await shoot('dark-topology', '#/topology');
    await page.setViewportSize({ width: 390, height: 844 });
    await shoot('phone', '#/overview');
    await shoot('phone-timers', '#/timers');
    await page.emulateMedia({ colorScheme: 'light' });
    await scene.kill('muc-1');
    await page.setViewportSize({ width: 1280, height: 900 });
    await sleep(4000);
    await shoot('killed', '#/overview');
  }
  stop();
  for (const complaint of scene.complaints) console.error(complaint);
}

const words = ['session', 'reminder', 'invoice', 'retry', 'lease'];

/** Timers of all kinds, set all the time, so that the pictures show something. */
function load({ client, receiverUrl }: DashboardScene): () => void {
  const stop = new AbortController();
  const run = async (): Promise<void> => {
    const later = Array.from({ length: 1500 }, (_, i) => ({
      in: 600_000 + i * 1000,
      uri: `${receiverUrl}/${words[i % words.length]}`,
      opaque: `${words[i % words.length]} ${i}`,
      tags: [words[i % words.length] ?? ''],
    }));
    await client.setMany(later);
    for (let round = 0; !stop.signal.aborted; round++) {
      const burst = Math.round(24 + 12 * Math.sin(round / 9) + 8 * Math.random());
      const soon = Array.from({ length: burst }, (_, i) => ({
        in: 2000 + Math.random() * 9000,
        uri: `${receiverUrl}/${words[i % words.length]}`,
        tags: [words[i % words.length] ?? ''],
      }));
      await client.setMany(soon).catch(() => undefined);
      await sleep(1000);
    }
  };
  void run();
  return () => stop.abort();
}

await main();
