/** Sets through the HTTP API of one member: single requests and batches of 500, synced to disk and in memory. */
import { join } from 'node:path';
import { type Load, post, runLoad } from './support/load.ts';
import { withScratch } from './support/scratch.ts';
import { ServerProcess } from './support/server-process.ts';
import { batch, thousands, timer } from './support/timers.ts';

const uri = 'http://127.0.0.1:9/';
const hour = 3600;
const batchLength = 500;

interface Measured {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

export async function run(report: (line: string) => void): Promise<Record<string, unknown>> {
  const empty = await emptyExchange();
  report(`sets: an empty exchange with node:http, for comparison: ${shown(empty)}`);
  const results: Record<string, Measured> = { empty };
  for (const durability of ['disk', 'memory'] as const) {
    await withScratch(async (folder) => {
      const where = durability === 'memory' ? ['--memory'] : ['--data', folder];
      const member = await ServerProcess.member(['--listen', '127.0.0.1:0', ...where]);
      const single = await measure(member, singles(member.url), 1);
      const bulk = await measure(member, batches(member.url), batchLength);
      await member.end();
      results[`${durability}Single`] = single;
      results[`${durability}Batch`] = bulk;
      report(`sets: ${durability}, single, 64 in flight: ${shown(single)}`);
      report(`sets: ${durability}, batches of ${batchLength}, 4 in flight: ${shown(bulk)}`);
    });
  }
  return results;
}

function singles(url: URL): Load {
  const request = post('/timers', timer(hour, uri));
  return { url, requestCount: 100_000, inFlight: 64, request: () => request };
}

function batches(url: URL): Load {
  const request = post('/timers/batch', batch(batchLength, hour, uri));
  return { url, requestCount: 600, inFlight: 4, request: () => request };
}

/** A first part warms up and is not counted. */
async function measure(of: ServerProcess, load: Load, setsPerRequest: number): Promise<Measured> {
  await runLoad({ ...load, requestCount: load.requestCount / 5 });
  const cpuMs = of.cpuMs();
  const { seconds, refused } = await runLoad(load);
  if (refused > 0) throw new Error(`${refused} of ${load.requestCount} requests were refused.`);
  const sets = load.requestCount * setsPerRequest;
  return { perSecond: sets / seconds, cpuMicros: ((of.cpuMs() - cpuMs) * 1000) / sets };
}

/** What the same exchange costs a server that does nothing: the limit of this way of serving. */
async function emptyExchange(): Promise<Measured> {
  const server = await ServerProcess.start(join(import.meta.dirname, 'support/empty-server.ts'));
  const measured = await measure(server, singles(server.url), 1);
  await server.end();
  return measured;
}

function shown({ perSecond, cpuMicros }: Measured): string {
  return `${thousands(perSecond)}/s, ${cpuMicros.toFixed(1)} µs of CPU each`;
}
