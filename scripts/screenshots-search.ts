/**
 * Takes the picture of a search over a million timers by due time: `node --conditions=source scripts/screenshots-search.ts
 * [FOLDER]`. With a folder, pictures of all widths and of light and dark go there; without one, the one of the docs is taken.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { TimerSpec } from '@carillon/client';
import type { Page } from 'playwright-core';
import { DashboardScene } from '../test/e2e/dashboard-scene.ts';
import { chromiumForTests } from './chromium.ts';

const timerCount = 1_000_000;
const batchLength = 1000;
const inFlightMax = 4;
const words = ['session', 'reminder', 'invoice', 'trial', 'lease'];
const images = join(import.meta.dirname, '../docs/images');

async function main(folder: string | undefined): Promise<void> {
  const executable = chromiumForTests();
  if (executable === null) return;
  await using scene = await DashboardScene.begin([{ name: 'ber-1' }]);
  await fill(scene);
  const page = await scene.open('ber-1', executable, { deviceScaleFactor: 1.25 });
  const url = scene.url('ber-1');
  if (folder === undefined) {
    await take(page, { url, width: 1280, path: join(images, 'dashboard-search.png') });
    return;
  }
  for (const width of [1440, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await take(page, { url, width, path: join(folder, `search-${width}-${colorScheme}.png`) });
    }
  }
}

async function take(
  page: Page,
  to: { readonly url: string; readonly width: number; readonly path: string },
): Promise<void> {
  await page.setViewportSize({ width: to.width, height: 900 });
  const hour = new Date(Date.now() + 3_600_000).toISOString();
  await page.goto(`${to.url}/#/timers?search=invoice:*&from=${hour}`);
  await page.locator('tr[data-timer]').first().waitFor();
  await page.getByText('in all').waitFor();
  await sleep(1000);
  await page.screenshot({ path: to.path });
}

/** Due over thirty days, in no order. */
async function fill(scene: DashboardScene): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < timerCount) {
      const from = next;
      next += batchLength;
      const specs = Array.from({ length: batchLength }, (_, i) => specOf(from + i, scene));
      await scene.client.setMany(specs);
      if (from % 100_000 === 0) console.error(`${from} timers …`);
    }
  };
  await Promise.all(Array.from({ length: inFlightMax }, one));
}

function specOf(i: number, { receiverUrl }: DashboardScene): TimerSpec {
  const word = words[i % words.length] ?? 'session';
  return {
    in: 60_000 + ((i * 48_271) % timerCount) * 2592,
    uri: `${receiverUrl}/${word}s`,
    tags: [`${word}:${i}`],
  };
}

await main(process.argv[2]);
