/** The form of the dashboard in a real browser: every field, a preview of the pops, edit, duplicate and run now. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { chromiumForTests } from '../../scripts/chromium.ts';
import { DashboardScene } from './dashboard-scene.ts';

const executable = chromiumForTests();
const soonMs = 30_000;

describe.skipIf(executable === null)('the form in a browser', () => {
  let scene: DashboardScene;
  let page: Page;
  /** The timer that the first tests set. */
  let id: string;

  beforeAll(async () => {
    scene = await DashboardScene.begin([{ name: 'n0' }, { name: 'n1' }]);
    page = await scene.open('n0', executable ?? '', { viewport: { width: 1440, height: 900 } });
  }, 60_000);

  afterAll(async () => {
    await scene[Symbol.asyncDispose]();
  });

  const show = (hash: string) => page.goto(`${scene.url('n0')}/${hash}`);
  const read = async (which: string): Promise<Record<string, unknown>> => {
    const { body } = await scene.client.request({ method: 'GET', path: `/timers/${which}` });
    return body as Record<string, unknown>;
  };
  /** The id of the timer that is shown. */
  const shownId = async (before = ''): Promise<string> => {
    const shown = () => /#\/timers\/([0-9a-f]{32}-\d+)$/.exec(page.url())?.[1] ?? '';
    await expect.poll(shown, { timeout: soonMs }).not.toBe('');
    await expect.poll(shown, { timeout: soonMs }).not.toBe(before);
    return shown();
  };

  test('a cron timer shows its next five pops in its zone and in UTC while it is typed', async () => {
    await show('#/timers/new');
    await page.getByLabel('By cron').check();
    await page.getByLabel('Cron expression').fill('0 9 * * 1-5');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByLabel('How often').selectOption('forever');
    const preview = page.getByRole('region', { name: 'Next pops' });
    await preview.getByText('The next 5 pops').waitFor({ timeout: soonMs });
    const rows = preview.locator('tbody tr');
    expect(await rows.count()).toBe(5);
    for (const row of await rows.allTextContents())
      expect(row).toMatch(/^\w{3} [\d-]{10} 09:00 \+0[12]:00\w{3} [\d-]{10} 0[78]:00$/);
    expect(await page.locator('#zones option').count()).toBeGreaterThan(300);
    await page.getByLabel('Cron expression').fill('0 9 31 2 *');
    await preview.getByText('never pop').waitFor({ timeout: soonMs });
  });

  test('method, headers, lines of opaque, tags and retries arrive as typed', async () => {
    await page.getByLabel('Cron expression').fill('0 9 * * 1-5');
    await page.getByLabel('Method').selectOption('PUT');
    await page.getByLabel('Callback address').fill(`${scene.receiverUrl}/form`);
    await page.getByLabel('Opaque text').fill('{"order":\n17}');
    await page.getByRole('button', { name: 'Add a header' }).click();
    await page.getByLabel('Name of header 1').fill('X-Shop');
    await page.getByLabel('Value of header 1').fill('berlin');
    await page.getByLabel('Tags').fill('orders, eu');
    await page.getByText('Retries, time limit, replicas').click();
    await page.getByLabel('Attempts at most').fill('3');
    await page.getByLabel('Time limit of an attempt').fill('500ms');
    await page.getByRole('button', { name: 'Set the timer' }).click();
    id = await shownId();
    expect(await read(id)).toMatchObject({
      timing: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', forever: true },
      callback: {
        http: {
          uri: `${scene.receiverUrl}/form`,
          method: 'PUT',
          headers: { 'x-shop': 'berlin' },
          opaque: '{"order":\n17}',
          timeout: 0.5,
        },
        retry: { 'max-attempts': 3 },
      },
      tags: ['orders', 'eu'],
    });
    await page.getByLabel('Opaque', { exact: true }).filter({ hasText: '"order": 17' }).waitFor();
  });

  test('run now makes the callback once and leaves the timer alone', async () => {
    await show(`#/timers/${id}`);
    const before = await read(id);
    const calls = scene.receiver.callbacks.length;
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByText('Sent by').waitFor({ timeout: soonMs });
    await scene.receiver.received(calls + 1);
    expect(scene.receiver.callbacks.slice(calls)).toMatchObject([{ opaque: '{"order":\n17}' }]);
    expect(await read(id)).toEqual(before);
  });

  test('a duplicate has the whole definition under an id of its own', async () => {
    await show(`#/timers/${id}`);
    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: /Another like/ }).waitFor({ timeout: soonMs });
    expect(await page.getByLabel('Value of header 1').inputValue()).toBe('berlin');
    await page.getByRole('button', { name: 'Set the timer' }).click();
    const other = await shownId(id);
    const [a, b] = [await read(id), await read(other)];
    for (const name of ['timing', 'callback', 'tags', 'reliability'])
      expect(b[name]).toEqual(a[name]);
  });

  test('an edit replaces the timer, and a change made meanwhile is not overwritten', async () => {
    await show(`#/timers/${id}`);
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Cron expression').fill('30 7 * * *');
    await page.getByRole('button', { name: 'Remove the tag eu' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('cron 30 7 * * *').first().waitFor({ timeout: soonMs });
    expect(await read(id)).toMatchObject({ timing: { cron: '30 7 * * *' }, tags: ['orders'] });
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Cron expression').fill('0 1 * * *');
    await scene.client.replace(id, { in: '1h', uri: `${scene.receiverUrl}/other` });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').filter({ hasText: 'replaced meanwhile' }).waitFor();
    expect(await read(id)).toMatchObject({ timing: { interval: 3600 } });
    // The pattern that never pops was refused.
    const refused = (line: string) => line.includes('400 (Bad Request)');
    expect(scene.complaints.filter((line) => !refused(line))).toEqual([]);
  });
});
