/**
 * The night of an operator, in a real browser: a receiver is down, another receiver is told by an event, the dead
 * letters are found and delivered again, a member fails, and after every member was started again the timeline has all
 * of it.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newToken, type Token, tokenDigest } from '../../packages/server/src/access/token.ts';
import { renderTokens } from '../../packages/server/src/access/tokens-file.ts';
import { chromiumForTests } from '../../scripts/chromium.ts';
import { CliProcess } from './cli-process.ts';
import { DashboardScene } from './dashboard-scene.ts';
import { faultsOf } from './support/axe.ts';

const executable = chromiumForTests();
const soonMs = 60_000;
const names = ['n0', 'n1', 'n2'];
const timerCount = 12;
const made: Token[] = [];

/** The text of a new token. */
function tokenFor(name: string): string {
  const { id, text } = newToken((length) => randomBytes(length));
  const digest = tokenDigest(text);
  const created = '2026-01-01T00:00:00Z';
  made.push({ id, name, scope: 'admin', namespace: '*', digest, created, until: null });
  return text;
}

class Listening {
  readonly server: Server;
  status = 503;
  readonly bodies: string[] = [];

  constructor() {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.bodies.push(Buffer.concat(chunks).toString());
        response.statusCode = this.status;
        response.end(this.status === 200 ? '' : 'closed for tonight');
      });
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

describe.skipIf(executable === null)('the history in a browser', () => {
  const shop = tokenFor('shop-backend');
  const night = tokenFor('night-shift');
  const down = new Listening();
  const told = new Listening();
  let folder: string;
  let scene: DashboardScene;
  let page: Page;
  let timer: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-history-'));
    const file = join(folder, 'tokens.json');
    writeFileSync(file, renderTokens({ tokens: made, numberKey: 'ab'.repeat(32) }));
    told.status = 200;
    const events = { uri: `${await told.listen()}/events`, kinds: ['dead-letter'] };
    const namespaces = JSON.stringify({ default: { events } });
    const args = ['--auth-tokens', file, '--namespaces', namespaces];
    const members = names.map((name) => ({ name, args, onDisk: true }));
    scene = await DashboardScene.begin(members, { token: shop });
    const uri = `${await down.listen()}/reminders`;
    const spec = { uri, retry: { maxAttempts: 2, base: 100, maxWait: 100 }, tags: ['reminder'] };
    const recurring = await scene.client.set({ every: '4s', count: 1000, ...spec });
    timer = recurring.id;
    await scene.client.setMany(Array.from({ length: timerCount }, () => ({ in: 50, ...spec })));
    page = await scene.open('n0', executable ?? '', { viewport: { width: 1440, height: 900 } });
    await logIn();
    await page.getByText('Timers pending').first().waitFor({ timeout: soonMs });
  }, 120_000);

  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    down.close();
    told.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const logIn = async (): Promise<void> => {
    await page.getByLabel('Token').fill(night);
    await page.getByRole('button', { name: 'Log in' }).click();
  };
  const show = async (hash: string, name = 'n0'): Promise<void> => {
    await page.goto(`${scene.url(name)}/${hash}`);
  };
  const entries = () => page.locator('.timeline > li');
  const timeline = async (): Promise<string> => (await entries().allTextContents()).join('\n');

  test('a receiver that is down is told of at another one, and its letters are found', async () => {
    await expect.poll(() => told.bodies.join(' '), { timeout: soonMs }).toContain('dead-letter');
    await show('#/dead-letters');
    await page.locator('.groups li', { hasText: '5xx' }).getByRole('link').first().click();
    await expect.poll(() => page.url()).toContain('failure=5xx');
    await expect
      .poll(() => page.locator('[data-letter]').count(), { timeout: soonMs })
      .toBeGreaterThan(timerCount);
  });

  test('all that match are delivered once the receiver is well', async () => {
    down.status = 200;
    await page.getByRole('button', { name: /^Deliver all \d+ again$/ }).click();
    await page.getByText(/(\d+) of \1 letters sent again\./).waitFor({ timeout: soonMs });
    await expect
      .poll(async () => (await scene.client.deadLetters.summary()).total, { timeout: soonMs })
      .toBe(0);
    // Members write history a second late, and the next test kills one: a member that is asked writes first.
    await show(`#/timers/${timer}`);
    await expect
      .poll(timeline, { timeout: soonMs })
      .toContain('Dead letter of pop 1 sent againby night-shift');
  });

  test('a backup makes the call while its primary is gone, and the timeline says so', async () => {
    const { replicas } = (await scene.client.get(timer)) ?? { replicas: [] };
    const primary = replicas[0] ?? 'n0';
    const other = names.find((name) => name !== primary) ?? 'n1';
    await scene.kill(primary);
    await show(`#/timers/${timer}`, other);
    if (other !== 'n0') await logIn();
    await page.getByText('by backup 1').first().waitFor({ timeout: soonMs });
    await page.getByText(`${primary} did not answer`).first().waitFor({ timeout: soonMs });
    await scene.revive(primary);
  });

  test('after every member was started again the timeline has all of it', async () => {
    for (const name of names) await scene.restart(name);
    await show(`#/timers/${timer}`);
    await page.reload();
    await expect.poll(timeline, { timeout: soonMs }).toContain('Setby shop-backend');
    const all = await timeline();
    expect(all).toContain('Given up: a dead letter of pop 1');
    expect(all).toContain('Dead letter of pop 1 sent againby night-shift');
    expect(all).toContain('closed for tonight');
    expect(all).toContain('by backup 1');
    expect(all).toMatch(/Pop \d+200/);
    expect(await faultsOf(page)).toEqual([]);
  });

  test('the audit names the token that cancelled timers by tag', async () => {
    await scene.client.setMany(
      Array.from({ length: 1000 }, () => ({ in: '1h', uri: 'http://127.0.0.1:1/', tags: ['old'] })),
    );
    await fetch(`${scene.url('n1')}/timers?tag=old`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${night}` },
    });
    await show('#/audit?action=cancel');
    const row = page.locator('tr[data-change="cancel"]').first();
    await expect
      .poll(async () => row.textContent(), { timeout: soonMs })
      .toMatch(/Cancellednight-shift1,000 timersold/);
    expect(await faultsOf(page)).toEqual([]);
    const asked = ['--action', 'cancel', '--server', scene.url('n2'), '--token', night];
    const listing = new CliProcess(['audit', ...asked]);
    expect((await listing.ended).code).toBe(0);
    expect(listing.lines.at(-1)).toMatch(/ cancel +night-shift +1000 timers +old +- +n1$/);
  });

  test.each([
    [1440, 'light'],
    [1440, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('at %d pixels, %s, nothing is wider than the window', async (width, scheme) => {
    await page.setViewportSize({ width, height: 1000 });
    await page.emulateMedia({ colorScheme: scheme });
    const pictures = process.env['CARILLON_PICTURES'];
    for (const [name, hash] of [
      ['timeline', `#/timers/${timer}`],
      ['audit', '#/audit'],
    ] as const) {
      await show(hash);
      await page
        .locator(name === 'audit' ? 'tr[data-change]' : '.timeline > li')
        .first()
        .waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide).toBeLessThanOrEqual(width);
      if (pictures === undefined) continue;
      await page.screenshot({ path: `${pictures}/${name}-${width}-${scheme}.png`, fullPage: true });
    }
    // Members were down, and pages of two members were open: only errors of scripts count.
    const others = /^(?:Failed to load resource|asked )/;
    expect(scene.complaints.filter((said) => !others.test(said))).toEqual([]);
  });

  test('stored answers are erased by a button, and the audit says by which token', async () => {
    await show('#/audit');
    await page.getByRole('button', { name: 'Erase stored answers' }).click();
    await page
      .getByRole('button', { name: 'Really erase what receivers of default answered' })
      .click();
    await page.getByText('The stored answers are erased.').waitFor();
    const row = page.locator('tr[data-change="erase"]').first();
    await expect
      .poll(async () => row.textContent(), { timeout: soonMs })
      .toMatch(/Stored answers erasednight-shift–/);
    await show(`#/timers/${timer}`);
    await expect.poll(timeline, { timeout: soonMs }).toContain('Setby shop-backend');
    expect(await timeline()).not.toContain('closed for tonight');
  });
});
