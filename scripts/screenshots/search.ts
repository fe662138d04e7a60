/** Pictures of a search over a million timers by due time. Setting them takes minutes. */
import type { TimerSpec } from '@carillon/client';
import { DashboardScene } from '../../test/e2e/dashboard-scene.ts';
import { type PictureOptions, takeShapes } from './shapes.ts';

const timerCount = 1_000_000;
const batchLength = 1000;
const inFlightMax = 4;
const words = ['session', 'reminder', 'invoice', 'trial', 'lease'];

export async function takeSearch({ executable, images }: PictureOptions): Promise<void> {
  await using scene = await DashboardScene.begin([{ name: 'ber-1' }]);
  await fill(scene);
  const page = await scene.open('ber-1', executable);
  const hour = new Date(Date.now() + 3_600_000).toISOString();
  const show = async (): Promise<void> => {
    await page.goto(`${scene.url('ber-1')}/#/timers?search=invoice:*&from=${hour}`);
    await page.locator('tr[data-timer]').first().waitFor();
    await page.getByText('in all').waitFor();
  };
  await takeShapes(page, images, { name: 'search', height: 900, show });
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
