/**
 * Pictures of a table in a pool of disks, and of its growth by a zone: `carillon where` and `carillon plan` on the
 * example files, and the same question in the dashboard. Each is 1440 pixels wide.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { DashboardScene } from '../../test/e2e/dashboard-scene.ts';
import type { PictureOptions } from './shapes.ts';

const root = join(import.meta.dirname, '../..');
const width = 1440;
const pool = '--partitions 16 --zones 2 --replicas 6 --pin region=r0';
/** Far above the time that a busy machine needs. */
const limitMs = 240_000;
/** Lines of a command's answer that are shown, from its beginning and from its end. */
const firstLines = 26;
const lastLines = 12;

const commands = {
  where: `where acme/orders/row/4711 --topology cluster-today.yaml ${pool} --fan-outs 32,32,32,16 --explain`,
  plan: `plan cluster-today.yaml cluster-tomorrow.yaml ${pool} --table acme/orders/row`,
};

export async function takeTable({ executable, images }: PictureOptions): Promise<void> {
  await using scene = await DashboardScene.begin([{ name: 'n0' }]);
  const viewport = { width, height: 1000 };
  const page = await scene.open('n0', executable, { viewport, deviceScaleFactor: 1 });
  page.setDefaultTimeout(limitMs);
  await page.goto(`${scene.url('n0')}/#/placement`);
  const table = page.locator('.panel', { hasText: 'A table in a pool' });
  await table.getByLabel('Looked up in').selectOption('rounds');
  await table.getByText('When zone 3 comes').waitFor();
  await table.screenshot({ path: join(images, 'dashboard-table.png') });
  await table.getByText('Found in 8 steps').click();
  await table.locator('details').screenshot({ path: join(images, 'dashboard-table-steps.png') });
  for (const [name, command] of Object.entries(commands)) {
    await takeTerminal(page, command, join(images, `placement-${name}.png`));
  }
}

/** A command and its answer, as a terminal shows them. */
async function takeTerminal(page: Page, command: string, path: string): Promise<void> {
  const main = join(root, 'packages/cli/src/main.ts');
  const answer = execFileSync(
    process.execPath,
    ['--conditions=source', main, ...command.split(' ')],
    { cwd: join(root, 'examples'), encoding: 'utf8' },
  );
  const lines = answer.trimEnd().split('\n');
  const shown =
    lines.length > firstLines + lastLines
      ? [...lines.slice(0, firstLines), '…', ...lines.slice(-lastLines)]
      : lines;
  await page.goto('about:blank');
  await page.evaluate(
    (text) => {
      document.body.style.cssText = 'margin:0;background:#12181a';
      const pre = document.createElement('pre');
      pre.style.cssText = 'margin:0;padding:28px;color:#e4ebec;font:15px/1.5 monospace';
      pre.textContent = text;
      document.body.append(pre);
    },
    `$ carillon ${command}\n${shown.join('\n')}`,
  );
  await page.screenshot({ path, fullPage: true });
}
