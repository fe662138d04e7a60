/** What redundancy costs: sets and lateness of three members with factor 2 against one member with factor 1. */
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { post, runLoad } from './support/load.ts';
import { withScratch } from './support/scratch.ts';
import { ServerProcess } from './support/server-process.ts';
import { thousands, timer } from './support/timers.ts';

const requestCount = 30_000;
const uri = 'http://127.0.0.1:9/';

interface Measured {
  readonly perSecond: number;
  readonly cpuMicros: number;
}

export async function run(report: (line: string) => void): Promise<Record<string, unknown>> {
  const one = await withScratch(async (folder) => {
    const member = await ServerProcess.member(['--listen', '127.0.0.1:0', '--data', folder]);
    return measure([member]);
  });
  const three = await withScratch(async (folder) => measure(await startThree(folder)));
  report(`cluster: one member, factor 1: ${shown(one)}`);
  report(`cluster: three members, factor 2, synced on both: ${shown(three)}`);
  const ratio = three.perSecond / one.perSecond;
  report(
    `cluster: ${ratio.toFixed(2)} × the sets a second on the same cores, ${(three.cpuMicros / one.cpuMicros).toFixed(2)} × the CPU a set`,
  );
  return { one, three, ratio };
}

async function measure(members: readonly ServerProcess[]): Promise<Measured> {
  const request = post('/timers', timer(3600, uri));
  const load = async (count: number): Promise<number> => {
    const runs = members.map(({ url }) =>
      runLoad({
        url,
        requestCount: count / members.length,
        inFlight: Math.ceil(64 / members.length),
        request: () => request,
      }),
    );
    const results = await Promise.all(runs);
    const refused = results.reduce((sum, result) => sum + result.refused, 0);
    if (refused > 0) throw new Error(`${refused} of ${count} sets were refused.`);
    return Math.max(...results.map(({ seconds }) => seconds));
  };
  await load(requestCount / 5);
  const cpu = (): number => members.reduce((sum, member) => sum + member.cpuMs(), 0);
  const cpuMs = cpu();
  const seconds = await load(requestCount);
  const cpuMicros = ((cpu() - cpuMs) * 1000) / requestCount;
  for (const member of members) await member.end();
  return { perSecond: requestCount / seconds, cpuMicros };
}

async function startThree(folder: string): Promise<ServerProcess[]> {
  const ports = await freePorts(6);
  const members = ['n0', 'n1', 'n2'].map((name, i) => ({
    name,
    address: `127.0.0.1:${ports[i]}`,
    peer: `127.0.0.1:${ports[i + 3]}`,
  }));
  const file = join(folder, 'members.json');
  await writeFile(file, JSON.stringify({ members }));
  return Promise.all(
    members.map(({ name }) =>
      ServerProcess.member(['--name', name, '--members', file, '--data', join(folder, name)]),
    ),
  );
}

async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const server = createServer();
          server.listen(0, '127.0.0.1', () => resolve(server));
        }),
    ),
  );
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}

function shown({ perSecond, cpuMicros }: Measured): string {
  return `${thousands(perSecond)} sets/s, ${cpuMicros.toFixed(0)} µs of CPU each over all members`;
}
