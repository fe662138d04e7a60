/** Timers of 64 KiB in a cluster of processes that pop while clients list and export all of them again and again. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CliProcess } from '../cli-process.ts';
import { RealCluster } from './real-cluster.ts';
import { latenessAt, Recorder } from './recorder.ts';
import { until } from './until.ts';

const opaque = 'x'.repeat(64 * 1024);
const perRequest = 20;

export interface LargeOptions {
  readonly timers: number;
  /** Each timer pops this often. */
  readonly times: number;
  readonly intervalSeconds: number;
  /** Timers on a page, of each reader. */
  readonly pages: readonly number[];
}

export interface LargeTimers {
  /** As the answers to the sets say. */
  readonly copies: readonly string[];
  /** Timers in each list that was read before any timer can have ended. */
  readonly listed: readonly number[];
  /** Timers that `carillon list --all` and `carillon export` wrote, before any timer can have ended. */
  readonly written: Readonly<Record<string, number>>;
  readonly pops: number;
  /** Pops that a later one stands for, because members came to them too late. */
  readonly merged: number;
  readonly repeated: number;
  readonly p99LatenessMs: number;
}

interface Page {
  readonly timers: readonly { readonly id: string }[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

export async function largeTimers(options: LargeOptions): Promise<LargeTimers> {
  const cluster = await RealCluster.start({ names: ['n0', 'n1', 'n2'] });
  const recorder = new Recorder();
  try {
    return await read(cluster, recorder, options);
  } finally {
    await cluster.end();
    recorder.close();
  }
}

async function read(
  cluster: RealCluster,
  recorder: Recorder,
  options: LargeOptions,
): Promise<LargeTimers> {
  const { timers, times, intervalSeconds, pages } = options;
  const urls = cluster.running.map(({ url }) => url);
  const uri = await recorder.listen();
  const copies: string[] = [];
  for (let i = 0; i < timers / perRequest; i++) {
    copies.push(...(await setSome(urls[i % urls.length] ?? '', uri, options)));
  }
  const expected = timers * times;
  const pops = new Map<string, number>();
  // A pop stands for all that fell due before it and were merged into it, as happens on a busy machine.
  recorder.onCall = ({ popId, missed }) => void pops.set(popId, 1 + missed);
  const isOver = (): boolean => sum(pops.values()) >= expected;
  const isEarly = (): boolean => recorder.calls.every(({ sequence }) => sequence < times);
  const [written, ...lists] = await Promise.all([
    commands(urls, isEarly),
    ...pages.map((limit, i) => {
      return readUntil({ url: urls[i % urls.length] ?? '', limit }, isOver, isEarly);
    }),
  ]);
  const limitMs = 120_000 + times * intervalSeconds * 1000;
  await until('every pop delivered', limitMs, async () => isOver());
  await sleep(1000);
  const { calls } = recorder;
  return {
    copies,
    listed: lists.flat(),
    written,
    pops: pops.size,
    merged: sum(pops.values()) - pops.size,
    repeated: calls.length - pops.size,
    p99LatenessMs: latenessAt(calls, 0.99),
  };
}

function sum(values: Iterable<number>): number {
  let all = 0;
  for (const value of values) all += value;
  return all;
}

async function setSome(
  url: string,
  uri: string,
  { times, intervalSeconds }: LargeOptions,
): Promise<string[]> {
  const timer = {
    timing: { interval: intervalSeconds, 'repeat-for': intervalSeconds * times + 0.001 },
    callback: { http: { uri, opaque } },
    reliability: { 'replication-factor': 2 },
  };
  const body = JSON.stringify(Array.from({ length: perRequest }, () => timer));
  const answer = await fetch(`${url}/timers/batch`, { method: 'POST', body });
  return ((await answer.json()) as { copies: string }[]).map((one) => one.copies);
}

/**
 * Timers that each command wrote. A command that ends when timers may have ended says nothing; one that says that a
 * member did not answer, as happens on a busy machine, is made again.
 */
async function commands(
  urls: readonly string[],
  isEarly: () => boolean,
): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-large-'));
  const file = join(folder, 'timers.ndjson');
  const counts: Record<string, number> = {};
  try {
    const lines = await whole(['list', '--all', '--json', '--server', urls[0] ?? ''], isEarly);
    if (isEarly()) counts['list --all'] = lines.length;
    await whole(['export', file, '--server', urls[1] ?? ''], isEarly);
    if (isEarly()) counts['export'] = readFileSync(file, 'utf8').split('\n').length - 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return counts;
}

/** The output of a command in which all members answered. */
async function whole(args: readonly string[], isEarly: () => boolean): Promise<string[]> {
  for (;;) {
    const command = new CliProcess(args);
    const { code } = await command.ended;
    if (code === 0 || !isEarly()) return command.lines;
    const said = command.errors.join(' ');
    if (!said.startsWith('No answer from')) throw new Error(`It ended with ${code}: ${said}`);
  }
}

/** Lists all timers again and again; how many were in each list that ended early and that all members answered. */
async function readUntil(
  { url, limit }: { readonly url: string; readonly limit: number },
  isOver: () => boolean,
  isEarly: () => boolean,
): Promise<number[]> {
  const counts: number[] = [];
  while (!isOver()) {
    const ids = new Set<string>();
    let cursor: string | null = null;
    let isWhole = true;
    do {
      const from: string = cursor === null ? '' : `&cursor=${cursor}`;
      const answer = await fetch(`${url}/timers?limit=${limit}${from}`);
      const page = (await answer.json()) as Page;
      if (page.missing.length > 0) isWhole = false;
      for (const { id } of page.timers) ids.add(id);
      ({ cursor } = page);
    } while (cursor !== null && isWhole);
    if (isWhole && isEarly()) counts.push(ids.size);
  }
  return counts;
}
