/** The dashboard of a member that asks for tokens, in a real Chromium: log in, look, log out. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newToken, type Token, tokenDigest } from '../../packages/server/src/access/token.ts';
import { renderTokens } from '../../packages/server/src/access/tokens-file.ts';
import { chromiumForTests } from '../../scripts/chromium.ts';
import { DashboardScene } from './dashboard-scene.ts';
import { faultsOf } from './support/axe.ts';

const executable = chromiumForTests();
const soonMs = 15_000;

const made: Token[] = [];

/** The text of a new token. */
function tokenFor(name: string, scope: Token['scope'], namespace: string): string {
  const { id, text } = newToken((length) => randomBytes(length));
  const digest = tokenDigest(text);
  made.push({ id, name, scope, namespace, digest, created: '2026-01-01T00:00:00Z', until: null });
  return text;
}

describe.skipIf(executable === null)('a member with tokens', () => {
  const operator = tokenFor('operator', 'admin', '*');
  const shop = tokenFor('shop', 'write', 'shop');
  const reader = tokenFor('reader', 'read', 'shop');
  let folder: string;
  let scene: DashboardScene;
  let page: Page;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-tokens-'));
    const file = join(folder, 'tokens.json');
    writeFileSync(file, renderTokens({ tokens: made, numberKey: 'ab'.repeat(32) }));
    scene = await DashboardScene.begin([{ name: 'n0', args: ['--auth-tokens', file] }], {
      token: shop,
    });
    await scene.client.set({ in: '1h', uri: `${scene.receiverUrl}/x`, opaque: 'of the shop' });
    page = await scene.open('n0', executable ?? '');
  }, 60_000);

  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  const text = (what: string | RegExp): Locator => page.getByText(what);
  const sees = (what: Locator): Promise<void> => what.first().waitFor({ timeout: soonMs });
  const logIn = async (token: string): Promise<void> => {
    await page.getByLabel('Token').fill(token);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  const stored = () =>
    page.evaluate(() => {
      const all = [...Object.entries(sessionStorage), ...Object.entries(localStorage)];
      return Object.fromEntries(all);
    });

  test('asks for a token, and says why an unknown one is refused', async () => {
    await sees(page.getByRole('heading', { name: 'Log in' }));
    expect(await faultsOf(page)).toEqual([]);
    await logIn('carillon_000000000000_nonsense');
    await sees(page.getByRole('alert').filter({ hasText: 'There is no such token here' }));
    expect(await stored()).toEqual({});
  });

  test('a token lets in; its namespace is shown, and the page is live', async () => {
    await logIn(shop);
    await sees(text('Timers pending'));
    await sees(page.locator('.who', { hasText: 'shop · write' }));
    await page.getByRole('link', { name: 'Timers', exact: true }).click();
    await sees(page.locator('tr[data-timer]'));
    // It survives a reload of the tab, and lies nowhere else.
    await page.reload();
    await sees(page.locator('tr[data-timer]'));
    expect(await stored()).toEqual({ 'carillon-token': shop });
    expect(await page.evaluate(() => localStorage.length)).toBe(0);
  });

  test('logging out leaves nothing on the screen or in the tab', async () => {
    await page.getByRole('button', { name: 'Log out' }).click();
    await sees(page.getByRole('heading', { name: 'Log in' }));
    expect(await page.locator('tr[data-timer]').count()).toBe(0);
    expect(await stored()).toEqual({});
  });

  test('a token with the scope read is offered nothing else', async () => {
    await logIn(reader);
    await page.goto(`${scene.url('n0')}/#/timers`);
    await page.locator('tr[data-timer] a.mono').first().click();
    await sees(text('of the shop'));
    expect(await page.getByRole('button', { name: 'Cancel the timer' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Log out' }).click();
  });

  test('a token for all namespaces can choose one', async () => {
    await page.goto(`${scene.url('n0')}/#/timers`);
    await logIn(operator);
    await sees(text('No timer is waiting'));
    await page.getByRole('button', { name: 'default' }).click();
    await page.getByLabel('Namespace').fill('shop');
    await page.getByRole('button', { name: 'Show' }).click();
    await sees(page.locator('tr[data-timer]'));
    await sees(page.getByRole('link', { name: 'Set a timer' }));
  });

  test('the reference shows requests with a token', async () => {
    await page.goto(`${scene.url('n0')}/docs#get-timers`);
    await sees(page.locator('#get-timers', { hasText: 'Authorization: Bearer $CARILLON_TOKEN' }));
  });

  test('the browser complained of nothing but refusals', () => {
    const rest = scene.complaints.filter((line) => !/status of 40[134]/.test(line));
    expect(rest).toEqual([]);
  });
});
