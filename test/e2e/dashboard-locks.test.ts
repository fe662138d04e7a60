/** Locks on the dashboard, in a real Chromium: a real etcd, and `carillon lock` as real processes. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import { chromiumForTests } from '../../scripts/chromium.ts';
import { etcdForTests } from '../../scripts/etcd.ts';
import { EtcdCluster } from '../../scripts/etcd-cluster.ts';
import { CliProcess } from './cli-process.ts';
import { DashboardScene } from './dashboard-scene.ts';

const executable = chromiumForTests();
const paths = etcdForTests();
const soonMs = 20_000;

describe.skipIf(executable === null || paths === null)('a member that sees a ring', () => {
  let etcd: EtcdCluster;
  let scene: DashboardScene;
  let page: Page;
  const started: CliProcess[] = [];

  beforeAll(async () => {
    if (paths === null) return;
    etcd = await EtcdCluster.start({ paths });
    const args = ['--locks-etcd-endpoints', etcd.endpoints.join(), '--locks-rings', 'locks,unused'];
    scene = await DashboardScene.begin([{ name: 'n0', args }]);
    page = await scene.open('n0', executable ?? '');
    await page.goto(`${scene.url('n0')}/#/locks`);
  }, 60_000);

  afterEach(() => Promise.all(started.splice(0).map((one) => one.kill('SIGKILL'))));
  afterAll(async () => {
    await scene?.[Symbol.asyncDispose]();
    await etcd?.stop();
  });

  function lock(...command: string[]): CliProcess {
    const words = ['lock', 'nightly-export', '--etcd', etcd.endpoints.join(), '--ttl', '2s', '--'];
    const one = new CliProcess([...words, ...command]);
    started.push(one);
    return one;
  }

  const sees = (what: Locator): Promise<void> => what.first().waitFor({ timeout: soonMs });
  const row = (): Locator => page.locator('tr[data-lock="nightly-export"]');
  const cell = (index: number): Promise<string> =>
    row().locator(`td:nth-child(${index})`).innerText();

  test('a ring that was never opened is told as such', async () => {
    await sees(
      page.locator('.panel', { hasText: 'Ring unused' }).getByText('No process has opened'),
    );
  });

  test('the holder, its token and the waiters are shown while they last', async () => {
    const first = lock('sleep', '60');
    await sees(row());
    const holder = await cell(2);
    const token = BigInt(await cell(3));
    expect(await cell(4)).toContain('none');
    const second = lock('sleep', '60');
    await expect.poll(() => cell(4), { timeout: soonMs }).not.toContain('none');
    const waiter = (await cell(4)).trim();
    expect(waiter).not.toBe(holder);
    first.signal('SIGTERM');
    await expect.poll(() => cell(2), { timeout: soonMs }).toBe(waiter);
    expect(BigInt(await cell(3))).toBeGreaterThan(token);
    second.signal('SIGTERM');
    await sees(page.locator('.panel', { hasText: 'Ring locks' }).getByText('No lock is held.'));
  });

  test('an etcd that is gone is told in a sentence, and nothing else breaks', async () => {
    await etcd.kill(0);
    await sees(page.getByRole('alert').filter({ hasText: 'etcd cannot be read' }));
    await page.goto(`${scene.url('n0')}/#/overview`);
    await sees(page.getByText('Timers pending'));
  });
});
