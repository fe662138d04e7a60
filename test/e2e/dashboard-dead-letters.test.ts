/**
 * Dead letters in a real browser: hundreds of them, of several receivers, found, delivered again and dropped in one go.
 */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumForTests } from '../../scripts/chromium.ts';
import { DashboardScene } from './dashboard-scene.ts';

const executable = chromiumForTests();
const soonMs = 30_000;
/** Letters of each receiver: 419 in all. */
const counts = [210, 120, 60, 20, 9];
const path = `/callbacks/of/a/service/with/a/long/address?customer=${'0123456789'.repeat(8)}`;

class Shop {
  readonly server: Server;
  isWell = false;
  handled = 0;
  private readonly status: number;

  constructor(status: number) {
    this.status = status;
    this.server = createServer((_, response) => {
      response.statusCode = this.isWell ? 200 : this.status;
      if (this.isWell) this.handled++;
      response.end(this.isWell ? '' : `out of stock, says shop ${this.status}`);
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }
}

describe.skipIf(executable === null)('dead letters in a browser', () => {
  let scene: DashboardScene;
  let page: Page;
  const shops = [500, 503, 404, 410, 429].map((status) => new Shop(status));

  beforeAll(async () => {
    scene = await DashboardScene.begin([{ name: 'n0' }, { name: 'n1' }, { name: 'n2' }]);
    for (const shop of shops) await shop.listen();
    const specs = shops.flatMap(({ origin }, i) =>
      Array.from({ length: counts[i] ?? 0 }, () => ({
        in: 50,
        uri: `${origin}${path}`,
        retry: { maxAttempts: 1 },
      })),
    );
    await scene.client.setMany(specs);
    page = await scene.open('n0', executable ?? '', { viewport: { width: 1440, height: 900 } });
  }, 120_000);

  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    for (const { server } of shops) {
      server.close();
      server.closeAllConnections();
    }
  });

  const rows = () => page.locator('[data-letter]');
  const groups = () => page.locator('.groups li');
  const counted = () => groups().locator('strong').allTextContents();

  test('they are counted by receiver and reason over the whole cluster', async () => {
    await page.goto(`${scene.url('n0')}/#/dead-letters`);
    await expect.poll(counted, { timeout: 60_000 }).toEqual(['210', '120', '60', '20', '9']);
    await expect.poll(() => rows().count()).toBe(50);
    const summary = await scene.client.deadLetters.summary();
    expect([summary.total, summary.missing]).toEqual([419, []]);
  }, 90_000);

  test.each([
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('at %d pixels, %s, every button and address can be read', async (width, scheme) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme });
    await expect.poll(() => rows().count()).toBe(50);
    const folder = process.env['CARILLON_PICTURES'];
    if (folder !== undefined)
      await page.screenshot({ path: `${folder}/dead-letters-${width}-${scheme}.png` });
    const box = await rows().first().getByRole('button', { name: 'Deliver again' }).boundingBox();
    expect((box?.x ?? width) + (box?.width ?? 0)).toBeLessThanOrEqual(width);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(width);
    expect(await rows().first().textContent()).toContain(path);
    expect(await rows().first().textContent()).toContain('out of stock, says shop');
  });

  test('a filter and a page stand in the address, and a reload keeps them', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
    await groups().nth(2).getByRole('link').click();
    await expect.poll(() => page.url()).toContain('failure=4xx');
    await expect.poll(() => rows().count()).toBe(50);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => rows().count(), { timeout: soonMs }).toBe(10);
    await page.getByText('60 letters, the newest of each page first').waitFor({ timeout: soonMs });
    const shown = await rows().first().getAttribute('data-letter');
    await page.reload();
    await page.locator(`[data-letter="${shown}"]`).waitFor({ timeout: soonMs });
    await page.goBack();
    await expect.poll(() => rows().count(), { timeout: soonMs }).toBe(50);
  });

  test('all that match are delivered again, with a result, and no others', async () => {
    const [, , shop] = shops as [Shop, Shop, Shop];
    shop.isWell = true;
    await page.getByRole('button', { name: 'Deliver all 60 again' }).click();
    await page.getByText('60 of 60 letters sent again.').waitFor({ timeout: soonMs });
    await expect.poll(() => shop.handled, { timeout: soonMs }).toBe(60);
    await expect.poll(counted, { timeout: soonMs }).toEqual(['210', '120', '20', '9']);
    await page.getByText('None of these is left').waitFor({ timeout: soonMs });
    expect(shops.map(({ handled }) => handled)).toEqual([0, 0, 60, 0, 0]);
  });

  test('chosen ones are dropped after a second look', async () => {
    await page.goto(`${scene.url('n0')}/#/dead-letters`);
    await expect.poll(() => rows().count(), { timeout: soonMs }).toBe(50);
    await rows().nth(0).getByRole('checkbox').check();
    await rows().nth(1).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Drop the 2 chosen' }).click();
    await page.getByRole('button', { name: 'Really drop the 2 chosen' }).click();
    await page.getByText('2 of 2 letters dropped.').waitFor({ timeout: soonMs });
    await expect.poll(async () => (await scene.client.deadLetters.summary()).total).toBe(357);
    expect(scene.complaints).toEqual([]);
  });
});
