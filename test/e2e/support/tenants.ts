/** One namespace does its worst at a real member, and another one sets timers before and meanwhile. */
import { createServer, type Server } from 'node:net';
import { Carillon } from '@carillon/client';
import { readProcess } from '../../soak/proc.ts';
import { serve } from '../cli-process.ts';
import { type Callback, Receiver } from '../receiver.ts';
import { until } from './until.ts';
import { listening } from './listening.ts';
import { latenessAt } from './recorder.ts';

const timersOfRound = 10;

export interface TenantRounds {
  /** Rounds of the other namespace before the attack, and during it. */
  readonly quiet: number;
  readonly attacked: number;
}

/** How the other namespace fared. */
export interface TenantResult {
  readonly quietP99Ms: number;
  readonly attackedP99Ms: number;
  /** The longest time in a round of the attack in which the member could have run and had no processor. */
  readonly waitedMs: number;
  readonly refusedSets: number;
  /** Callbacks that were not the first attempt, or came more than once. */
  readonly repeated: number;
  readonly pops: number;
  /** Dead letters of all namespaces in the end. */
  readonly letters: number;
}

type Act = (bad: Carillon, round: number, good: string) => Promise<unknown>;
type Ending = () => unknown;

export const worst: Readonly<Record<string, (endings: Ending[]) => Promise<Act>>> = {
  '2,000 recurring timers to a closed port': async () => {
    const uri = 'http://127.0.0.1:9/';
    const retry = { maxAttempts: 1 };
    const specs = Array.from({ length: 2000 }, () => ({ every: '1s', forever: true, uri, retry }));
    return (bad, round) => (round === 0 ? bad.setMany(specs) : Promise.resolve());
  },
  'time limits of a millisecond for the receiver of others': async () => (bad, _, uri) =>
    bad.setMany(Array.from({ length: 25 }, () => ({ in: '100ms', uri, timeout: 1 }))),
  'silent receivers at 70 ports': async (endings) => {
    const uris = await Promise.all(Array.from({ length: 70 }, () => silentPort(endings)));
    return (bad, round) =>
      round < 8
        ? bad.setMany(uris.map((uri) => ({ in: '100ms', uri, timeout: '110s' })))
        : Promise.resolve();
  },
};

/** Takes connections and says nothing. */
async function silentPort(endings: Ending[]): Promise<string> {
  const server: Server = createServer((socket) => socket.on('error', () => undefined));
  const port = await listening(server);
  endings.push(() => server.close());
  return `http://127.0.0.1:${port}/`;
}

export async function tenantRun(name: string, rounds: TenantRounds): Promise<TenantResult> {
  const endings: Ending[] = [];
  try {
    return await run(name, rounds, endings);
  } finally {
    for (const end of endings.toReversed()) await end();
  }
}

async function run(name: string, rounds: TenantRounds, endings: Ending[]): Promise<TenantResult> {
  const served = await serve(['--name', 'one', '--memory', '--log-level', 'warn']);
  endings.push(() => served.process.kill('SIGKILL'));
  const receiver = new Receiver();
  endings.push(() => receiver.close());
  const uri = await receiver.listen();
  const clientOf = (namespace: string): Carillon =>
    new Carillon({ members: [served.url], refresh: null, timeout: '60s', namespace });
  const [bad, good] = [clientOf('bad'), clientOf('good')];
  const act = (await worst[name]?.(endings)) ?? (() => Promise.resolve());
  const pops = (): Callback[] =>
    receiver.callbacks.filter(({ opaque }) => opaque.startsWith('good'));
  const waited = (): number =>
    (readProcess(served.process.pid)?.waitedNs.get(String(served.process.pid)) ?? 0) / 1e6;
  let refusedSets = 0;
  let waitedMs = 0;
  let quiet: Callback[] = [];
  for (let round = 0; round < rounds.quiet + rounds.attacked; round++) {
    if (round === rounds.quiet) quiet = pops();
    const waitedBeforeMs = waited();
    if (round >= rounds.quiet) await act(bad, round - rounds.quiet, `${uri}/bad`);
    const outcomes = await good.setMany(
      Array.from({ length: timersOfRound }, (_, i) => {
        return { in: '100ms', uri, opaque: `good ${round * timersOfRound + i}` };
      }),
    );
    refusedSets += outcomes.filter(({ ok }) => !ok).length;
    const due = (round + 1) * timersOfRound - refusedSets;
    await until('every pop of the other namespace', 60_000, async () => pops().length >= due);
    if (round >= rounds.quiet) waitedMs = Math.max(waitedMs, waited() - waitedBeforeMs);
  }
  const all = pops();
  const once = new Set(all.filter(({ attempt }) => attempt === 1).map(({ opaque }) => opaque));
  return {
    quietP99Ms: latenessAt(quiet, 0.99),
    attackedP99Ms: latenessAt(all.slice(quiet.length), 0.99),
    waitedMs,
    refusedSets,
    repeated: all.length - once.size,
    pops: all.length,
    letters: await letters(served.url),
  };
}

async function letters(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^carillon_timers\{state="dead"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Below this, a p99 of some hundred pops is noise. */
const lateFloorMs = 50;

/** Twice the lateness without the attack, and the time for which others on the machine kept the processor from the member. */
export function lateMsMax({ quietP99Ms, waitedMs }: TenantResult): number {
  return Math.max(2 * quietP99Ms, lateFloorMs) + waitedMs;
}
