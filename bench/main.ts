/**
 * `npm run bench`: Carillon beside its peers and beside the limit. See README.md; `-- --help` lists parts and systems.
 */
import { existsSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { machineOf } from './machine.ts';
import { type Options, readOptions } from './options.ts';
import type { Report, Section } from './page/section.ts';
import { summaryOf } from './page/summary.ts';
import { tableOf, terminalTable } from './page/table.ts';
import type { Part } from './sections.ts';
import { fullSizes, quickSizes, type Sizes } from './sizes.ts';
import { allSystems } from './systems/all.ts';
import type { System } from './systems/system.ts';
import { failed } from './workloads/workload.ts';
import { writeDocs, writeNewest, writePlaced, writeReport } from './write.ts';

const root = join(import.meta.dirname, '..');
/** Not CARILLON_…: members take such variables for their own options. */
const folder = process.env['BENCH_REPORT_FOLDER'] ?? join(import.meta.dirname, 'report');

// Servers that were started are ended when this process exits, however it does.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
const options = readOptions(process.argv.slice(2));
if (!existsSync('/proc/self/stat')) {
  console.error('CPU and memory are read from /proc: this needs Linux.');
  process.exitCode = 1;
} else if ('says' in options) {
  if (options.isHelp) console.log(options.says);
  else console.error(options.says);
  process.exitCode = options.isHelp ? 0 : 2;
} else await main(options);

async function main(asked: Options): Promise<void> {
  const report = await runAll(asked);
  await writeReport(folder, report);
  if (asked.isWhole) await writeDocs(root, folder, report);
  else if (!asked.isQuick) await writeNewest(root, report);
  if (!asked.isQuick) await writePlaced(root, report);
  for (const section of report.sections) show(section.title, terminalTable(tableOf(section)));
  const summary = summaryOf(report);
  if (summary.rows.length > 0) show('In short', terminalTable(summary));
  for (const { label, reason } of report.missing) console.log(`Missing: ${label}. ${reason}`);
  console.log(`\nThe report is in ${join(folder, 'index.html')}`);
  const failures = report.sections
    .flatMap(({ rows }) => rows)
    .filter(({ note }) => note?.startsWith('failed'));
  process.exitCode = failures.length === 0 ? 0 : 1;
}

async function runAll(given: Options): Promise<Report> {
  const { parts, systems: names, isQuick } = given;
  const startMs = performance.now();
  const startedAt = new Date().toISOString();
  const [loadBefore = 0] = loadavg();
  const asked = allSystems.filter(({ name }) => names.includes(name));
  const { systems, missing } = await prepare(
    parts.some(({ isComparing }) => isComparing) ? asked : [],
  );
  const sections: Section[] = [];
  for (const [i, part] of parts.entries()) {
    const tell = (line: string): void =>
      console.error(`[${i + 1}/${parts.length} ${part.name}, ${clock(startMs)}] ${line}`);
    const context = { systems, sizes: sizesOf(given), tell };
    sections.push(
      ...(await part.run(context).catch((error: unknown) => [brokenPart(part, error)])),
    );
  }
  return {
    machine: await machineOf(systems),
    startedAt,
    tookSeconds: (performance.now() - startMs) / 1000,
    isQuick,
    loadBefore,
    missing,
    sections,
  };
}

function sizesOf({ isQuick, storySeconds }: Options): Sizes {
  const sizes = isQuick ? quickSizes : fullSizes;
  const { seconds } = sizes.stories;
  return { ...sizes, stories: { ...sizes.stories, seconds: storySeconds ?? seconds } };
}

async function prepare(asked: readonly System[]) {
  const systems: System[] = [];
  const missing: { label: string; reason: string }[] = [];
  for (const system of asked) {
    const reason = await system.prepare();
    if (reason === null) systems.push(system);
    else missing.push({ label: system.label, reason });
  }
  return { systems, missing };
}

/** A part that fails as a whole is in the report, too. */
function brokenPart({ name, what }: Part, error: unknown): Section {
  const { note = 'failed' } = failed(error);
  const row = { name, label: name, kind: 'ours', values: {}, note } as const;
  return {
    id: name,
    title: what,
    what,
    columns: [],
    rows: [row],
    headline: null,
    charts: [],
    notes: [],
  };
}

function show(title: string, text: string): void {
  console.log(`\n${title}\n${'─'.repeat(title.length)}\n${text}`);
}

function clock(startMs: number): string {
  const seconds = Math.round((performance.now() - startMs) / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}
