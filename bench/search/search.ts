/**
 * `npm run bench:search`: lists by due time, tag, receiver and failure over many timers of one member, in its process:
 * CPU of a page and of a total, and the bytes that the indexes take for each timer.
 *
 * One timer in a hundred has a tag of a hundred thousand, every timer a tag of its own and one of ten receivers; due
 * times are spread over thirty days in no order. One in ten thousand is retrying.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { encodeDefinition, type TimerRecord } from '@carillon/core';
import { SystemClock } from '@carillon/core/system';
import { Usage } from '../../packages/server/src/quotas/usage.ts';
import { BackupCounts } from '../../packages/server/src/replication/backup-counts.ts';
import { searchHere } from '../../packages/server/src/replication/lists/search-here.ts';
import { orderStart } from '../../packages/server/src/replication/lists/search-order.ts';
import type { Replica } from '../../packages/server/src/replication/replica.ts';
import { ScanTurns } from '../../packages/server/src/replication/scan-turns.ts';
import type { ListAsk } from '../../packages/server/src/replication/wire/list.ts';
import { Store } from '../../packages/server/src/store/store.ts';
import { table, withMarkedBlock } from '../../scripts/markdown/marked-block.ts';
import { definition, recordOf } from '../micro/records.ts';

const help = `npm run bench:search -- [--count N] [--write]

  --count N  timers (1000000)
  --write    writes the table into docs/benchmarks.md
`;

const marks = { name: 'lists', by: 'npm run bench:search -- --write' } as const;
const receiverCount = 10;
const spanMs = 30 * 86_400_000;
const everything: ListAsk = {
  namespace: 'default',
  tag: null,
  tagPrefix: '',
  state: '',
  cursor: '',
  limit: 50,
  holder: '',
  role: '',
  receiver: '',
  failure: '',
};

interface Question {
  readonly name: string;
  readonly ask?: Partial<ListAsk>;
  readonly fromMs?: number;
  readonly toMs?: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      count: { type: 'string', default: '1000000' },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const count = Number(values.count);
  if (values.help || !(Number.isInteger(count) && count > 0)) {
    console.log(help);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const store = new Store({ searchIndexes: true });
  store.buildSearch(1);
  const usage = new Usage();
  fill(store, usage, count);
  const bytes = (store.search?.bytes ?? 0) / count;
  const told = `${count} timers; the indexes take ${bytes.toFixed(1)} bytes a timer.`;
  console.log(`${told}\n`);
  console.log(
    `${'list of 50, then total'.padEnd(40)}${'CPU, page'.padStart(12)}${'CPU, total'.padStart(12)}${'found'.padStart(12)}`,
  );
  const rows: string[][] = [];
  for (const question of questionsOf(count)) rows.push(await measure(store, usage, question));
  if (!values.write) return;
  const page = join(import.meta.dirname, '../../docs/benchmarks.md');
  const lines = [told, '', ...table(['list of 50', 'CPU, page', 'CPU, total', 'found'], rows)];
  await writeFile(page, withMarkedBlock(await readFile(page, 'utf8'), marks, lines));
}

function fill(store: Store, usage: Usage, count: number): void {
  for (let i = 0; i < count; i++) {
    const record = timerOf(i, count);
    store.put(record);
    usage.count(record, 1, true);
  }
}

function timerOf(i: number, count: number): TimerRecord {
  const tags = i % 100 === 0 ? [`order:${i}`, `batch:${(i / 100) % 10}`] : [`order:${i}`];
  const uri = `http://10.0.0.${i % receiverCount}:8080/callback`;
  const body = encodeDefinition({ ...definition, tags, uri });
  // 48,271 and the count have no common factor: each due time comes once, in no order.
  const dueMs = 60_000 + ((i * 48_271) % count) * (spanMs / count);
  const isRetrying = i % 10_000 === 0;
  const base = { ...recordOf(i), body, replicas: ['a'], dueMs, retryMs: dueMs, triedMs: dueMs };
  return isRetrying ? { ...base, attempt: 1, outcome: 503 } : base;
}

function questionsOf(count: number): readonly Question[] {
  const last = count - 1;
  return [
    { name: 'the next of all' },
    { name: 'due in the last hour of thirty days', fromMs: 60_000 + spanMs - 3_600_000 },
    { name: 'one tag', ask: { tag: `order:${last}` } },
    { name: 'a tag of one in a thousand', ask: { tag: 'batch:0' } },
    { name: 'tags from batch:', ask: { tagPrefix: 'batch:' } },
    { name: 'tags from ba', ask: { tagPrefix: 'ba' } },
    { name: 'tags from ord, which all have', ask: { tagPrefix: 'ord' } },
    { name: 'tags from order:1234', ask: { tagPrefix: 'order:1234' } },
    { name: 'a receiver of one in ten', ask: { receiver: 'http://10.0.0.3:8080' } },
    { name: 'retrying', ask: { state: 'retrying' } },
    {
      name: 'retrying, one receiver',
      ask: { state: 'retrying', receiver: 'http://10.0.0.0:8080' },
    },
    { name: 'a tag that no timer has', ask: { tag: 'nothing' } },
  ];
}

/** Prints a line, and returns its cells. */
async function measure(store: Store, usage: Usage, question: Question): Promise<string[]> {
  const clock = new CpuClock();
  const replica = {
    store,
    usage,
    backups: new BackupCounts(),
    scans: new ScanTurns(clock),
    get: (hi: number, lo: number) => store.get(hi, lo),
  } as Replica;
  const parts = { self: 'a', clock, replica, peers: null, distanceMs: () => 0 };
  const search = {
    ask: { ...everything, ...question.ask },
    fromMs: question.fromMs ?? Number.NEGATIVE_INFINITY,
    toMs: question.toMs ?? Number.POSITIVE_INFINITY,
    after: orderStart,
  };
  const page = await timed(() => searchHere(parts, { ...search, wantTotal: false }));
  const none = { ...search, ask: { ...search.ask, limit: 0 }, wantTotal: true };
  const counted = await timed(() => searchHere(parts, none));
  const { total } = counted.result;
  const found = `${total?.exact === true ? '' : '~'}${total?.count}`;
  console.log(
    `${question.name.padEnd(40)}${ms(page.cpuMs)}${ms(counted.cpuMs)}${found.padStart(12)}`,
  );
  const { entries } = page.result;
  const dues = entries.map(({ place }) => place.ms);
  if (dues.some((at, i) => at < (dues[i - 1] ?? at))) throw new Error('A page is out of order.');
  if (entries.length < Math.min(50, total?.count ?? 0)) throw new Error('A page is not full.');
  return [question.name, ms(page.cpuMs).trim(), ms(counted.cpuMs).trim(), found];
}

/** Members bound their work by time; here by CPU time, so that other work on the machine changes nothing. */
class CpuClock extends SystemClock {
  override now(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/** The median of five, after one that does not count. */
async function timed<T>(run: () => Promise<T>): Promise<{ result: T; cpuMs: number }> {
  let result = await run();
  const all: number[] = [];
  for (let i = 0; i < 5; i++) {
    const before = process.cpuUsage();
    result = await run();
    const { user, system } = process.cpuUsage(before);
    all.push((user + system) / 1000);
  }
  return { result, cpuMs: all.toSorted((a, b) => a - b)[2] ?? Number.NaN };
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(2) : Math.round(value)} ms`.padStart(12);
}

await main();
