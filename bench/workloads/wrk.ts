/**
 * W1c: one connection a call, as curl, load balancers and most other languages do it: `wrk -c64`, in turn against an
 * empty `node:http` exchange, bare sockets, a member that syncs to disk, and one in memory. A machine that is slow for
 * a while is slow for all of a round, so the figure to compare is the ratio to the empty exchange of the same round.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Column, Row, Section } from '../page/section.ts';
import { cpuMs } from '../support/process-tree.ts';
import { withScratch } from '../support/scratch.ts';
import { ServerProcess } from '../support/server-process.ts';
import { program } from '../systems/install.ts';
import { payloadOf } from '../load/setter.ts';
import type { Context } from './workload.ts';

const run = promisify(execFile);
const connectionCount = 64;

const columns: readonly Column[] = [
  { key: 'perSecond', title: 'requests', unit: 'perSecond', better: 'more' },
  { key: 'ratio', title: 'to the empty exchange', unit: 'ratio', better: 'more' },
  { key: 'least', title: 'the least of all rounds', unit: 'ratio', better: 'more' },
  { key: 'serverMicros', title: 'CPU of the server a request', unit: 'micros', better: 'less' },
];

interface Candidate {
  readonly name: string;
  readonly label: string;
  readonly kind: Row['kind'];
  readonly start: (folder: string) => Promise<ServerProcess>;
}

const emptyScript = join(import.meta.dirname, '../support/empty-server.ts');
const bareScript = join(import.meta.dirname, '../limits/bare-server.ts');
const listen = ['--listen', '127.0.0.1:0'];

const candidates: readonly Candidate[] = [
  {
    name: 'wrk-empty',
    label: 'an empty node:http exchange',
    kind: 'baseline',
    start: () => ServerProcess.start(emptyScript),
  },
  {
    name: 'wrk-bare',
    label: 'bare sockets, which parse nothing',
    kind: 'baseline',
    // Requests end where the first one does, and the answer is empty.
    start: () => ServerProcess.start(bareScript, ['0', '0']),
  },
  {
    name: 'wrk-synced',
    label: 'Carillon, synced to disk',
    kind: 'ours',
    start: (folder) => ServerProcess.member([...listen, '--data', folder]),
  },
  {
    name: 'wrk-memory',
    label: 'Carillon, in memory',
    kind: 'ours',
    start: () => ServerProcess.member([...listen, '--memory']),
  },
];

interface Round {
  readonly perSecond: number;
  readonly serverMicros: number;
}

export async function wrk(context: Context): Promise<readonly Section[]> {
  const found = await program('wrk', 'wrk');
  if ('missing' in found) return [sectionOf([], [found.missing])];
  const rounds: Round[][] = [];
  for (let i = 0; i < context.sizes.wrk.roundCount; i++) {
    context.tell(`wrk, round ${i + 1} …`);
    const round: Round[] = [];
    for (const candidate of candidates) round.push(await measure(found.path, candidate, context));
    rounds.push(round);
  }
  return [
    sectionOf(
      candidates.map((candidate, at) => rowOf(candidate, rounds, at)),
      [],
    ),
  ];
}

function measure(path: string, { start }: Candidate, { sizes }: Context): Promise<Round> {
  return withScratch(async (folder) => {
    const script = join(folder, 'post.lua');
    await writeFile(script, lua());
    const server = await start(join(folder, 'data'));
    try {
      const { href } = new URL('/timers', server.url);
      const ask = (seconds: number) =>
        run(path, ['-t1', `-c${connectionCount}`, `-d${seconds}s`, '-s', script, href]);
      await ask(1);
      const before = cpuMs([server.pid]);
      const { stdout } = await ask(sizes.wrk.seconds);
      return read(stdout, cpuMs([server.pid]) - before);
    } finally {
      await server.end('SIGKILL');
    }
  });
}

/** A timer due in an hour; where it would call is never asked. */
function lua(): string {
  const body = JSON.stringify({
    timing: { interval: 3600 },
    callback: { http: { uri: 'http://127.0.0.1:9/pop', opaque: payloadOf(1) } },
  });
  return `wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"\nwrk.body = '${body}'\n`;
}

/** Throws where a request failed. */
export function read(output: string, serverCpuMs: number): Round {
  const bad = /^ +(Non-2xx.*|Socket errors.*)$/m.exec(output)?.[1];
  if (bad !== undefined) throw new Error(`wrk: ${bad}`);
  const count = Number(/^ +(\d+) requests in /m.exec(output)?.[1]);
  const perSecond = Number(/^Requests\/sec: +([\d.]+)$/m.exec(output)?.[1]);
  return { perSecond, serverMicros: (serverCpuMs * 1000) / count };
}

function rowOf(
  { name, label, kind }: Candidate,
  rounds: readonly (readonly Round[])[],
  at: number,
): Row {
  const own = rounds.flatMap((round) => round[at] ?? []);
  const ratios = rounds.map((round) => (round[at]?.perSecond ?? 0) / (round[0]?.perSecond ?? 0));
  const values = {
    perSecond: median(own.map(({ perSecond }) => perSecond)),
    ratio: median(ratios),
    least: Math.min(...ratios),
    serverMicros: median(own.map(({ serverMicros }) => serverMicros)),
  };
  return { name, label, kind, values };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function sectionOf(rows: readonly Row[], notes: readonly string[]): Section {
  return {
    id: 'wrk',
    title: 'W1c · One connection a call',
    what: `Sets by wrk over ${connectionCount} connections, one call on each at a time, in turn with an empty node:http exchange; medians of the rounds.`,
    columns,
    rows,
    headline: null,
    charts: [],
    notes,
  };
}
