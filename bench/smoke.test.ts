import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { Report } from './page/section.ts';

const run = promisify(execFile);
const main = join(import.meta.dirname, 'main.ts');

test('a quick pass measures Carillon and a baseline, and writes data, page and pictures', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-smoke-'));
  try {
    const flags = ['--quick', '--only', 'sets,bulk,lateness', '--systems', 'carillon,settimeout'];
    const { stdout } = await run(
      process.execPath,
      ['--conditions=source', '--expose-gc', main, ...flags],
      { env: { ...process.env, BENCH_REPORT_FOLDER: folder } },
    );
    expect(stdout).toContain('W2 · Lateness');
    const report = JSON.parse(await readFile(join(folder, 'results.json'), 'utf8')) as Report;
    const bySection = (id: string) => report.sections.find((section) => section.id === id);
    const [sets, bulk, lateness] = ['sets', 'bulk', 'lateness'].map(bySection);
    expect(sets?.rows.map(({ name }) => name)).toEqual([
      'carillon',
      'settimeout',
      'way-carillon',
      'lone-client',
    ]);
    for (const row of sets?.rows ?? []) expect(row.values['perSecond']).toBeGreaterThan(0);
    expect(bulk?.rows.map(({ name }) => name)).toEqual(['carillon', 'settimeout']);
    for (const row of bulk?.rows ?? []) expect(row.values['perSecond']).toBeGreaterThan(0);
    for (const row of lateness?.rows ?? []) {
      expect(row.values).toMatchObject({ lost: 0, duplicates: 0 });
      // Node's own timers may come a little before their millisecond is over.
      expect(row.values['minMs']).toBeGreaterThan(-2);
    }
    expect((await readdir(folder)).toSorted()).toEqual([
      'bench-bulk.svg',
      'bench-lateness-shares.svg',
      'bench-lateness.svg',
      'bench-sets.svg',
      'index.html',
      'results.json',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
