/** The dashboard in a real Chromium, on a cluster of three real members: every view, used as a person would. */
import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumForTests } from '../../scripts/chromium.ts';
import { buildDashboard } from '../../scripts/dashboard.ts';
import { DashboardScene } from './dashboard-scene.ts';
import { listening } from './support/listening.ts';

const executable = chromiumForTests();
const built = join(import.meta.dirname, '../../packages/server/dist/dashboard');
const soonMs = 15_000;
const taggedCount = 60;

test('the built dashboard stays under 150 kB, zipped, and refers to nothing outside', async () => {
  await buildDashboard();
  const names = readdirSync(built, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => name.includes('.')).map((name) => join(built, name));
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(file)).length, 0);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(150_000);
  expect(readFileSync(join(built, 'index.html'), 'utf8')).not.toMatch(/https?:|style=|<script>/);
});

// A machine without Chromium; chromiumForTests has said so, and fails in CI.
describe.skipIf(executable === null)('in a browser', () => {
  let scene: DashboardScene;
  let page: Page;

  beforeAll(async () => {
    const labels = (zone: string) => ({ zone });
    scene = await DashboardScene.begin([
      { name: 'n0', labels: labels('a') },
      { name: 'n1', labels: labels('b') },
      { name: 'n2', labels: labels('c') },
    ]);
    const later = Array.from({ length: taggedCount }, (_, i) => ({
      in: 3_600_000,
      uri: `${scene.receiverUrl}/later`,
      opaque: String(i),
      tags: ['later'],
    }));
    await scene.client.setMany(later);
    page = await scene.open('n0', executable ?? '');
  }, 60_000);

  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
  });

  const show = (hash: string) => page.goto(`${scene.url('n0')}/${hash}`);
  const text = (what: string | RegExp): Locator => page.getByText(what);
  const sees = (what: Locator): Promise<void> => what.first().waitFor({ timeout: soonMs });
  const figure = (name: string): Locator =>
    page.locator('.figure', { hasText: name }).locator('strong');

  test('the overview shows members, timers and pops, and changes by itself', async () => {
    await show('#/overview');
    // On a busy machine members are late at first, and the page says so.
    await text('All is well. 3 members, all of them answering.')
      .first()
      .waitFor({ timeout: 60_000 });
    expect(await page.locator('tr[data-member]').count()).toBe(3);
    await expect.poll(() => figure('Timers pending').textContent(), { timeout: soonMs }).toBe('60');
    expect(await page.locator('.chart canvas').count()).toBe(2);
    // Of twenty timers, this member pops some.
    const soon = Array.from({ length: 20 }, () => ({ in: 500, uri: `${scene.receiverUrl}/soon` }));
    await scene.client.setMany(soon);
    await scene.receiver.received(20);
    await sees(text('2xx success'));
    await expect
      .poll(() => figure('Lateness p99').textContent(), { timeout: soonMs })
      .toContain('s');
    // Numbers of all members: each has some of a dozen timers that pop every second.
    const ticking = { every: 1000, count: 600, uri: `${scene.receiverUrl}/tick`, tags: ['tick'] };
    await scene.client.setMany(Array.from({ length: 12 }, () => ticking));
    const total = async () => Number(await figure('Pops per second').textContent());
    await expect.poll(total, { timeout: 60_000 }).toBeGreaterThan(6);
    const rates = page.locator('tr[data-member] td:nth-child(6)');
    const each = async () => (await rates.allTextContents()).map(Number);
    await expect
      .poll(async () => Math.max(...(await each())), { timeout: soonMs })
      .toBeLessThan(12);
    expect((await each()).reduce((sum, rate) => sum + rate, 0)).toBeGreaterThan(5);
    await page.getByRole('link', { name: '1 hour' }).click();
    await sees(text(/means of 10 s, since n0 started/));
    const canvases = page.locator('.chart:not(:has(.nothing)) canvas');
    await expect.poll(() => canvases.count(), { timeout: soonMs }).toBe(2);
    await page.reload();
    await sees(page.getByRole('link', { name: '1 hour' }).and(page.locator('[aria-current]')));
    await scene.client.cancelByTag('tick');
  });

  test('the topology shows the domains; a member has peers and timers', async () => {
    await show('#/topology');
    await sees(page.getByRole('region', { name: 'zone b' }));
    expect(await page.locator('.domain').count()).toBe(3);
    await page.locator('a[data-member=n1]').click();
    const panel = page.locator('.panel', { hasText: 'Timers it holds' });
    await sees(panel.locator('tr[data-timer]'));
    expect(await panel.locator('.chips li').allTextContents()).toEqual(['n0 ', 'n2 ']);
    const holders = () => panel.locator('tr[data-timer] td:last-child').allTextContents();
    expect(await holders()).toHaveLength(25);
    expect((await holders()).every((names) => names.includes('n1'))).toBe(true);
    // Two of three members hold each of them: more than one page for each.
    await panel.getByRole('button', { name: 'Next' }).click();
    await expect
      .poll(async () => (await holders()).every((names) => names.includes('n1')))
      .toBe(true);
    await panel.getByLabel('As primary').check();
    const first = (names: readonly string[]) => new Set(names.map((all) => all.split(', ')[0]));
    await expect.poll(async () => [...first(await holders())], { timeout: soonMs }).toEqual(['n1']);
    await panel.getByLabel('As backup').check();
    await expect
      .poll(async () => first(await holders()).has('n1'), { timeout: soonMs })
      .toBe(false);
  });

  test('timers are found by tag, page by page, and by id', async () => {
    await show('#/timers');
    const search = page.getByRole('searchbox');
    await search.fill('nothing-like-it');
    await search.press('Enter');
    await sees(text('Nothing fits'));
    await search.fill('later');
    await search.press('Enter');
    await sees(text('Tagged “later”'));
    await expect.poll(() => page.locator('tr[data-timer]').count()).toBe(50);
    await page.getByRole('button', { name: 'Next' }).click();
    await expect.poll(() => page.locator('tr[data-timer]').count()).toBe(taggedCount - 50);
    await sees(text(`page 2 · ${taggedCount} in all`));
    // The address has the page and the filter.
    await page.reload();
    await expect.poll(() => page.locator('tr[data-timer]').count()).toBe(taggedCount - 50);
    await page.goBack();
    await expect.poll(() => page.locator('tr[data-timer]').count()).toBe(50);
    await page.getByRole('searchbox').fill('lat*');
    await page.getByRole('searchbox').press('Enter');
    await sees(text('Tags from “lat”'));
    await expect.poll(() => page.locator('tr[data-timer]').count()).toBe(50);
    await page.getByRole('searchbox').fill(`${scene.receiverUrl}/none`);
    await page.getByRole('searchbox').press('Enter');
    await sees(text('Nothing fits'));
    await show('#/timers?state=retrying');
    await sees(text('Nothing fits'));
    const { id } = await scene.client.set({
      in: 3_600_000,
      uri: `${scene.receiverUrl}/x`,
      opaque: 'found me',
    });
    // The sixteen characters that tables show are enough.
    await page.getByRole('searchbox').fill(id.slice(0, 16));
    await page.getByRole('searchbox').press('Enter');
    await sees(text('found me'));
    await sees(text('once, after 1 h'));
    await sees(text('backup 1'));
    await page.getByRole('button', { name: 'Cancel the timer' }).click();
    await page.getByRole('button', { name: 'Really cancel it' }).click();
    await sees(text('This timer has ended. It was cancelled at'));
    expect(await scene.client.get(id)).toBeNull();
    // A timer that has ended is found too, with its end and its timeline.
    await show('#/timers');
    await page.getByRole('searchbox').fill(id.slice(0, 16));
    await page.getByRole('searchbox').press('Enter');
    await sees(text('It was cancelled at'));
    await sees(page.locator('.timeline li[data-action="cancel"]'));
  });

  test('a timer is set in the form, counts down and pops', async () => {
    // Of this attempt alone.
    const opaque = `from the form ${Date.now()}`;
    await show('#/timers/new');
    await page.getByLabel('Interval').fill('soon');
    await page.getByRole('button', { name: 'Set the timer' }).click();
    await sees(text('Type how long to wait, such as 10s, 5m or 2h.'));
    await page.getByLabel('Interval').fill('8s');
    await page.getByLabel('Callback address').fill(`${scene.receiverUrl}/form`);
    await page.getByLabel('Opaque text').fill(opaque);
    await page.getByRole('button', { name: 'Set the timer' }).click();
    await sees(page.locator('.countdown', { hasText: /in [0-8]\.\d s/ }));
    await sees(text('This timer has ended'));
    const pops = scene.receiver.callbacks.filter((callback) => callback.opaque === opaque);
    expect(pops).toHaveLength(1);
    // Also after its end, and whichever member popped it.
    const attempts = page.locator('li[data-attempt="1.1"]');
    await sees(attempts.filter({ hasText: '200' }));
    await page.reload();
    await sees(text('Its last pop was delivered at'));
    await sees(attempts.filter({ hasText: /n[012]/ }));
  });

  test('attempts that failed are shown with their answer, newest first', async () => {
    let status = 503;
    const receiver = createServer((_, response) => {
      response.statusCode = status;
      status = 200;
      response.end(response.statusCode === 200 ? '' : 'the <b>shelf</b>\nis empty');
    });
    const uri = `http://127.0.0.1:${await listening(receiver)}/flaky`;
    const retry = { limit: '1m', base: 50, maxWait: 50 };
    const { id } = await scene.client.set({ every: '2s', count: 100, uri, retry });
    await show(`#/timers/${id}`);
    await sees(page.locator('li[data-attempt="1.2"]', { hasText: '200' }));
    const rows = await page.locator('li[data-attempt]').allTextContents();
    expect(rows[0]).toContain('200');
    expect(rows.at(-1)).toContain('503');
    expect(rows.at(-1)).toContain('the <b>shelf</b> is empty');
    await scene.client.cancel(id);
    receiver.close();
    receiver.closeAllConnections();
  });

  test('a recurring timer whose pops all fail is not shown as well, and leads to its dead letter', async () => {
    const receiver = createServer((_, response) => {
      response.statusCode = 500;
      response.end('no stock');
    });
    const uri = `http://127.0.0.1:${await listening(receiver)}/failing`;
    const spec = { uri, retry: { maxAttempts: 1 }, tags: ['failing'] };
    const { id } = await scene.client.set({ every: '1s', count: 1000, ...spec });
    const once = await scene.client.set({ in: 50, ...spec });
    await show('#/timers?tag=failing');
    const row = page.locator(`tr[data-timer="${id.slice(0, 16)}"]`);
    await sees(row.locator('.badge.bad', { hasText: 'failing' }));
    await sees(row.locator('.badge.bad', { hasText: '500' }));
    await show(`#/timers/${id}`);
    await sees(page.locator('.said', { hasText: 'no stock' }));
    await page.getByRole('link', { name: 'Its dead letter' }).first().waitFor({ timeout: soonMs });
    await show(`#/timers/${once.id}`);
    await sees(text('Its last pop was given up at'));
    await page.getByRole('link', { name: 'Its dead letter' }).first().waitFor({ timeout: soonMs });
    await scene.client.cancel(id);
    await scene.client.deadLetters.discardAll();
    receiver.close();
    receiver.closeAllConnections();
  });

  test('a refusal of the member is shown as it says it', async () => {
    await show('#/timers/new');
    await page.getByLabel('Callback address').fill('http://user:secret@127.0.0.1/');
    await page.getByRole('button', { name: 'Set the timer' }).click();
    await sees(page.getByRole('alert').filter({ hasText: 'credentials' }));
  });

  test('dead letters can be delivered again or dropped', async () => {
    let status = 410;
    let calls = 0;
    const receiver = createServer((_, response) => {
      calls++;
      response.statusCode = status;
      response.end();
    });
    const uri = `http://127.0.0.1:${await listening(receiver)}/gone`;
    await scene.client.setMany([
      { in: 100, uri },
      { in: 100, uri },
    ]);
    await show('#/dead-letters');
    const rows = page.locator('[data-letter]');
    await expect.poll(() => rows.count(), { timeout: soonMs }).toBe(2);
    await rows.first().getByRole('button', { name: 'Drop' }).click();
    await rows.first().getByRole('button', { name: 'Really drop it' }).click();
    await expect.poll(() => rows.count(), { timeout: soonMs }).toBe(1);
    status = 200;
    const before = calls;
    await rows.first().getByRole('button', { name: 'Deliver again' }).click();
    await sees(text('There are none'));
    await expect.poll(() => calls, { timeout: soonMs }).toBe(before + 1);
    receiver.close();
    receiver.closeAllConnections();
  });

  test('the placement explorer names the replicas that the cluster has chosen', async () => {
    const { id } = await scene.client.set({ in: 3_600_000, uri: `${scene.receiverUrl}/x` });
    const timer = await scene.client.get(id);
    await show('#/placement');
    await page.getByLabel('Key, timer id').fill(id);
    const names = page.locator('.ranked li a');
    await expect
      .poll(async () => (await names.allTextContents()).slice(0, 2))
      .toEqual(timer?.replicas);
    await sees(text('The walk'));
    await page.getByRole('button', { name: 'n2 remove' }).click();
    await sees(page.locator('svg.flows path.moved'));
    await sees(text(/of all copies would move/));
    await page.getByLabel('A member to add').fill('n0');
    await page.getByRole('button', { name: 'Add a member' }).click();
    await sees(text('There is a member n0 already.'));
    const table = page.locator('.panel', { hasText: 'A table in a pool' });
    await sees(table.getByRole('columnheader', { name: 'queue' }));
    await table.getByLabel('Looked up in').selectOption('rounds');
    await table.getByText('Found in 8 steps').click();
    await sees(table.getByText('8. node'));
    await expect.poll(() => table.locator('.slot.held').count()).toBe(6);
    await sees(table.getByText(/33 %.*of the copies of this table would move/));
    await table.getByLabel('Looked up in').selectOption('pool');
    await table.getByLabel('Zones').fill('3');
    await sees(text('When zone 4 comes'));
    await sees(text(/25 %.*of the copies of this table would move/));
    await table.getByLabel('a new account').check();
    await sees(table.getByRole('heading', { name: 'r0/z3' }));
  });

  test('locks say that no ring is connected', async () => {
    await show('#/locks');
    await sees(text('No ring is connected'));
  });

  test('it works with the keyboard, in the dark and on a phone', async () => {
    await show('#/overview');
    await sees(text('Timers pending'));
    await page.locator('a.brand').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await sees(page.getByRole('heading', { level: 1, name: 'Topology' }));
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 390, height: 844 });
    for (const view of [
      'overview',
      'topology/n1',
      'timers',
      'timers/new',
      'dead-letters',
      'placement',
      'locks',
    ]) {
      await show(`#/${view}`);
      await sees(page.locator('h1'));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, view).toBeLessThanOrEqual(390);
    }
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    expect(background).toBe('rgb(15, 20, 22)');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('the API reference shows every operation, finds some, and has requests to copy', async () => {
    await page.goto(`${scene.url('n0')}/docs`);
    const operations = page.locator('.operation');
    const answer = await fetch(`${scene.url('n0')}/openapi.json`);
    const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> };
    const described = Object.values(paths).flatMap((item) =>
      Object.keys(item).filter((name) => name !== 'parameters'),
    );
    await expect.poll(() => operations.count(), { timeout: soonMs }).toBe(described.length);
    await page.getByRole('searchbox').fill('send a dead letter');
    await expect.poll(() => operations.count()).toBe(1);
    await sees(text(`curl -X POST '${scene.url('n0')}/dead-letters/ID/redeliver'`));
    await page.getByRole('searchbox').fill('');
    await page.getByRole('link', { name: 'POST /timers', exact: true }).click();
    await sees(page.locator('#post-timers code', { hasText: /^interval$/ }));
    await page.setViewportSize({ width: 390, height: 844 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide).toBeLessThanOrEqual(390);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('a killed member shows within seconds', async () => {
    await show('#/overview');
    await sees(text('As primary'));
    await scene.kill('n2');
    await sees(
      text('n2 does not answer. Other replicas pop its timers meanwhile, up to 2 s late.'),
    );
    await sees(page.locator('tr[data-member=n2]', { hasText: 'silent' }));
    await expect
      .poll(() => page.locator('tr[data-member=n2]').textContent(), { timeout: soonMs })
      .not.toContain('%');
    // The page of a member that is gone itself says how old it is.
    await scene.kill('n0');
    await sees(text(/n0 has not been heard for \d+ s/));
  });

  test('the browser had nothing to complain about until then', () => {
    const expected = [
      // Answers to requests of the tests above for ended timers, and refusals.
      /status of 40[04]/,
      /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING|ERR_CONNECTION_RESET/,
    ];
    const rest = scene.complaints.filter((line) => !expected.some((form) => form.test(line)));
    expect(rest).toEqual([]);
  });
});
