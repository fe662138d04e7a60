/**
 * How late callbacks arrive: 10,000 timers due evenly over 10 s (1,000 pops a second), beside plain setTimeout calling
 * the same receiver in the same run.
 */
import { join } from 'node:path';
import { Pool } from 'undici';
import { post, runLoad } from './support/load.ts';
import { withScratch } from './support/scratch.ts';
import { ServerProcess } from './support/server-process.ts';
import { percentile } from './support/timers.ts';

const timerCount = 10_000;
const spreadMs = 10_000;
const leadMs = 3000;
const batchLength = 500;

export async function run(report: (line: string) => void): Promise<Record<string, unknown>> {
  const plain = await lateness((uri) => withSetTimeout(uri));
  report(`lateness: setTimeout in one process, ${shown(plain)}`);
  const results: Record<string, unknown> = { setTimeout: plain };
  for (const durability of ['disk', 'memory'] as const) {
    results[durability] = await withScratch(async (folder) => {
      const where = durability === 'memory' ? ['--memory'] : ['--data', folder];
      const member = await ServerProcess.member(['--listen', '127.0.0.1:0', ...where]);
      const measured = await lateness((uri) => withMember(member, uri));
      await member.end();
      report(`lateness: carillon, ${durability}, ${shown(measured)}`);
      return measured;
    });
  }
  return results;
}

interface Lateness {
  readonly count: number;
  readonly minMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function lateness(pop: (uri: string) => Promise<void>): Promise<Lateness> {
  const receiver = await ServerProcess.start(join(import.meta.dirname, 'support/receiver.ts'));
  await pop(receiver.url.href);
  const read = async (): Promise<number[]> =>
    (await (await fetch(new URL('/lateness', receiver.url))).json()) as number[];
  let values = await read();
  for (const endMs = Date.now() + 30_000; values.length < timerCount && Date.now() < endMs; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    values = await read();
  }
  await receiver.end();
  values.sort((a, b) => a - b);
  const [minMs = Number.NaN] = values;
  return {
    count: values.length,
    minMs,
    p50Ms: percentile(values, 0.5),
    p99Ms: percentile(values, 0.99),
  };
}

/** Due times stand in the timers, so that setting them takes no part. */
async function withMember(member: ServerProcess, uri: string): Promise<void> {
  const firstMs = Date.now() + leadMs;
  const bodies: Buffer[] = [];
  for (let from = 0; from < timerCount; from += batchLength) {
    const items = Array.from({ length: batchLength }, (_, i) => {
      const at = new Date(firstMs + ((from + i) * spreadMs) / timerCount).toISOString();
      return { timing: { at }, callback: { http: { uri, opaque: 'x'.repeat(64) } } };
    });
    bodies.push(post('/timers/batch', JSON.stringify(items)));
  }
  await runLoad({
    url: member.url,
    requestCount: bodies.length,
    inFlight: 4,
    request: (i) => bodies[i] as Buffer,
  });
  await new Promise((resolve) => setTimeout(resolve, leadMs + spreadMs));
}

async function withSetTimeout(uri: string): Promise<void> {
  const { origin } = new URL(uri);
  const pool = new Pool(origin, { connections: 128 });
  const firstMs = Date.now() + leadMs;
  const body = 'x'.repeat(64);
  const pops = Array.from({ length: timerCount }, (_, i) => {
    const dueMs = firstMs + (i * spreadMs) / timerCount;
    const headers = { 'x-timer-due': new Date(dueMs).toISOString() };
    return new Promise<void>((resolve, reject) => {
      setTimeout(() => {
        pool
          .request({ path: '/', method: 'POST', headers, body })
          .then(({ body: answer }) => answer.dump())
          .then(() => resolve(), reject);
      }, dueMs - Date.now());
    });
  });
  await Promise.all(pops);
  await pool.close();
}

function shown({ count, minMs, p50Ms, p99Ms }: Lateness): string {
  const missing = count === timerCount ? '' : `, ${timerCount - count} never came`;
  return `earliest ${minMs.toFixed(1)}, p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms${missing}`;
}
