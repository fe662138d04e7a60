/**
 * Every page of the dashboard in a real browser, wide and narrow, light and dark, with texts of users that are hard to
 * show.
 */
import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { chromiumForTests } from '../../scripts/chromium.ts';
import { DashboardScene } from './dashboard-scene.ts';
import { faultsOf } from './support/axe.ts';
import { listening } from './support/listening.ts';

const executable = chromiumForTests();
const soonMs = 30_000;
const contrast = ['color-contrast'];
const long = `customer-${'0123456789'.repeat(11)}`;
/** Letters that run from right to left, and a mark that turns everything behind it around. */
const turned = '\u202eשלום';
const answer = 'تعطل no stock, come back in an hour';
const opaque = JSON.stringify({ order: 17, items: ['bell', 'rope'], note: long });

async function typeCron(page: Page): Promise<void> {
  await page.getByLabel('By cron').check();
  await page.getByLabel('Cron expression').fill('*/7 9 * * 1-5');
  await page.getByLabel('Time zone').fill('America/Argentina/ComodRivadavia');
  await page.getByText('It pops').waitFor();
  await page.getByLabel('How often').selectOption('forever');
  await page.getByText('The next 5 pops').waitFor();
}

/** In the page: titles of panels that hold something wider than themselves. */
const burstPanels = `[...document.querySelectorAll('.panel')]
  .filter((panel) => panel.scrollWidth > panel.clientWidth + 1)
  .map((panel) => panel.querySelector('h2')?.textContent ?? 'a panel')`;

describe.skipIf(executable === null)('every page in a browser', () => {
  let scene: DashboardScene;
  let page: Page;
  let failing: string;
  let letter: string;
  const receiver = createServer((_, response) => {
    response.statusCode = 500;
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    response.end(answer);
  });

  beforeAll(async () => {
    scene = await DashboardScene.begin([
      { name: 'n0', labels: { zone: 'a' } },
      { name: 'n1', labels: { zone: 'b' } },
      { name: 'n2', labels: { zone: 'c' } },
    ]);
    const uri = `http://127.0.0.1:${await listening(receiver)}/${long}?next=${long}`;
    const spec = { uri, opaque, tags: [long, turned, 'orders'], retry: { maxAttempts: 1 } };
    const set = await scene.client.set({ every: '2s', count: 100_000, ...spec });
    failing = set.id;
    await scene.client.setMany(
      Array.from({ length: 8 }, (_, i) => ({
        in: 3_600_000 + i,
        uri: `${scene.receiverUrl}/later`,
        tags: ['later'],
      })),
    );
    const given = async () => (await scene.client.get(failing))?.deadLetter ?? '';
    await vi.waitFor(async () => expect(await given()).not.toBe(''), { timeout: soonMs });
    letter = await given();
    page = await scene.open('n0', executable ?? '');
  }, 90_000);

  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
    receiver.close();
    receiver.closeAllConnections();
  });

  const shapes = [
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const;
  /** Pages by their titles. */
  const titles = new Map<string, string>();

  async function show(hash: string, settled: string): Promise<void> {
    await page.goto(`${scene.url('n0')}/${hash}`);
    await page.getByText(settled).first().waitFor({ timeout: soonMs });
  }

  async function picture(name: string): Promise<void> {
    const folder = process.env['CARILLON_PICTURES'];
    if (folder === undefined) return;
    await page.screenshot({ path: `${folder}/page-${name}.png`, fullPage: true });
  }

  /** Addresses, and a text that is there once the page has all it waits for. */
  test.each<readonly [name: string, hash: () => string, settled: string]>([
    ['overview', () => '#/overview', 'Late p99'],
    ['topology', () => '#/topology', 'zone b'],
    ['member', () => '#/topology/n1', 'Timers it holds'],
    ['timers', () => '#/timers', 'orders'],
    ['form', () => '#/timers/new', 'It pops'],
    ['edit', () => `#/timers/edit?id=${failing}`, 'The next 5 pops'],
    ['timer', () => `#/timers/${failing}`, 'no stock'],
    ['unknown-timer', () => '#/timers/00000000000004d2-2', 'No live timer'],
    ['dead-letters', () => '#/dead-letters', 'By receiver and reason'],
    ['dead-letter', () => `#/dead-letters/${letter}`, 'Deliver again'],
    ['placement', () => '#/placement', 'The walk'],
    ['locks', () => '#/locks', 'No ring is connected'],
    ['doctor', () => '#/doctor', 'answered'],
    ['unknown-page', () => '#/nowhere', 'There is no view'],
    ['reference', () => 'docs', 'Set a timer'],
  ])(
    '%s: axe finds no fault, nothing is wider than the window, and it has a title of its own',
    async (name, hash, settled) => {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ colorScheme: 'light' });
      await show(hash(), settled);
      // Dozens of operations are alike.
      if (name === 'reference') await page.getByRole('searchbox').fill('send a dead letter');
      if (name === 'form') await typeCron(page);
      const found: string[] = [];
      for (const [width, scheme] of shapes) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme: scheme });
        await picture(`${name}-${width}-${scheme}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) found.push(`${wide} pixels wide in a window of ${width}`);
        const burst = await page.evaluate<string[]>(burstPanels);
        found.push(...burst.map((title) => `${title} is wider than its panel at ${width}`));
        // Colours do not change with the width, nor names with the scheme.
        if (width === 1440 && scheme === 'dark') found.push(...(await faultsOf(page, contrast)));
        else if (scheme === 'light') found.push(...(await faultsOf(page)));
      }
      expect(found).toEqual([]);
      const title = await page.title();
      expect(titles.get(title) ?? name).toBe(name);
      titles.set(title, name);
    },
    60_000,
  );

  test('on a phone the menu reaches every page and closes behind each', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await show('#/overview', 'Late p99');
    const menu = page.getByRole('button', { name: 'Menu' });
    const links = page.locator('#views a');
    const count = await links.count();
    expect(count).toBeGreaterThan(6);
    for (let i = 0; i < count; i++) {
      await page.goto(`${scene.url('n0')}/#/overview`);
      expect(await links.nth(i).isVisible()).toBe(false);
      await menu.click();
      const box = await links.nth(i).boundingBox();
      expect((box?.y ?? 900) + (box?.height ?? 0), `link ${i}`).toBeLessThanOrEqual(844);
      const href = (await links.nth(i).getAttribute('href')) ?? '';
      await links.nth(i).click();
      await expect.poll(() => page.url()).toContain(href);
      if (href.startsWith('#')) await expect.poll(() => links.nth(i).isVisible()).toBe(false);
      else await page.goBack();
    }
  });

  test('another page begins at its top', async () => {
    await page.setViewportSize({ width: 390, height: 500 });
    await show('#/overview', 'Late p99');
    await page.evaluate(() => scrollTo(0, 600));
    expect(await page.evaluate(() => scrollY)).toBe(600);
    await page
      .locator('tr[data-member=n1] a')
      .first()
      .evaluate((link: HTMLElement) => link.click());
    await page.getByText('Timers it holds').waitFor({ timeout: soonMs });
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
  });

  test('on a phone each row of a table is a card with the words of its columns', async () => {
    await show('#/timers', 'orders');
    const cell = page.locator(`tr[data-timer="${failing.slice(0, 16)}"] td`).nth(1);
    await expect.poll(() => cell.getAttribute('data-title')).toBe('State');
    expect(await cell.evaluate((one) => getComputedStyle(one, '::before').content)).toBe('"State"');
    const row = await page.locator('tr[data-timer]').first().boundingBox();
    expect(row?.width).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('timers whose receivers fail and whose tags are long fit beside each other, and on a phone into a card', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await show('#/timers', 'no stock');
    const fits = await page
      .locator('.scroll')
      .first()
      .evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
    expect(fits).toBe(true);
    await page.setViewportSize({ width: 390, height: 844 });
    const uri = await page.locator('.uri', { hasText: long }).first().boundingBox();
    expect(uri?.height).toBeLessThan(90);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('the words of a receiver alone stand apart in the note on its timer, not the status', async () => {
    await show(`#/timers/${failing}`, 'The newest pop failed');
    const note = page.locator('.health.bad p');
    expect(await note.locator('bdi').textContent()).toBe(answer);
    expect(await note.textContent()).toContain(`(500: ${answer}) and was given up`);
  });

  test('texts of users stand apart from the text around them, and long ones are clipped', async () => {
    await show('#/timers', 'orders');
    const tag = page.locator('.tag', { hasText: turned }).first();
    expect(await tag.locator('bdi').textContent()).toBe(turned);
    const clipped = page.locator('.tag', { hasText: long }).first();
    const { width = 0 } = (await clipped.boundingBox()) ?? {};
    expect(width).toBeLessThan(200);
    expect(await clipped.getAttribute('title')).toBe(long);
    await show(`#/timers/${failing}`, 'no stock');
    const shown = page.getByLabel('Opaque', { exact: true });
    expect(await shown.textContent()).toBe(JSON.stringify(JSON.parse(opaque), null, 2));
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(opaque);
    const expected = /status of 404/;
    expect(scene.complaints.filter((line) => !expected.test(line))).toEqual([]);
  });
});
