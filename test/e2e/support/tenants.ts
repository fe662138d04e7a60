/** One namespace does its worst at a real member, and another one sets timers before and meanwhile. */
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { ApiError, Carillon } from '@carillon/client';
import { readProcess } from '../../soak/proc.ts';
import { serve } from '../cli-process.ts';
import { type Callback, Receiver } from '../receiver.ts';
import { until } from './until.ts';
import { listening } from './listening.ts';
import { latenessAt } from './recorder.ts';

const timersOfRound = 10;
const kib = 1024;

export interface TenantTimes {
  /** How long the other namespace is alone, and how long the attack lasts. */
  readonly quietMs: number;
  readonly attackedMs: number;
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
  /** How much more memory the process had at most during the attack. */
  readonly grownBytes: number;
  /** Statuses of a recurring timer that each namespace sets in the end. */
  readonly statuses: { readonly bad: number; readonly good: number };
}

/** The traces of the attack that the other namespace sees, apart from times. */
export interface TenantFacts {
  readonly refusedSets: number;
  readonly repeated: number;
  readonly good: number;
}

export const unharmed: TenantFacts = { refusedSets: 0, repeated: 0, good: 200 };

export function factsOf({ refusedSets, repeated, statuses }: TenantResult): TenantFacts {
  return { refusedSets, repeated, good: statuses.good };
}

type Act = (bad: Carillon, round: number, good: string) => Promise<unknown>;
type Ending = () => unknown;

interface Worst {
  /** Of the member, so that the namespace comes to its limits within seconds. */
  readonly flags?: readonly string[];
  /** Status of a recurring timer of the namespace after the attack. */
  readonly status?: number;
  readonly begin: (endings: Ending[]) => Promise<Act>;
}

const closed = 'http://127.0.0.1:9/';
const letterCountMax = 500;

const kinds: Readonly<Record<string, Worst>> = {
  '2,000 recurring timers to a closed port': {
    begin: async () => {
      const retry = { maxAttempts: 1 };
      const spec = { every: '1s', forever: true, uri: closed, retry } as const;
      const specs = Array.from({ length: 2000 }, () => spec);
      return (bad, round) => (round === 0 ? bad.setMany(specs) : Promise.resolve());
    },
  },
  'timers of 16 to 64 KiB every 100 ms to a receiver that says 410, and a letter box of 500': {
    flags: ['--namespaces', JSON.stringify({ bad: { letterCountMax } })],
    status: 429,
    begin: async (endings) => {
      const uri = await goneReceiver(endings);
      const specs = Array.from({ length: 50 }, (_, i) => {
        const opaque = 'x'.repeat((16 + (i % 4) * 16) * kib);
        return { every: '100ms', forever: true, uri, opaque } as const;
      });
      return (bad, round) => (round < 2 ? bad.setMany(specs) : Promise.resolve());
    },
  },
  'timers that it sets and cancels without end, at a member of 15,000 records': {
    flags: ['--limits-pending-timer-count-max', '15000'],
    status: 429,
    begin: async () => async (bad, round) => {
      // At first until the member has as many records as it may.
      for (let left = round === 0 ? 30 : 1; left > 0; left--) {
        if ((await setAndCancel(bad)) === 0) return;
      }
    },
  },
  'time limits of a millisecond for the receiver of others': {
    begin: async () => (bad, _, uri) =>
      bad.setMany(Array.from({ length: 25 }, () => ({ in: '100ms', uri, timeout: 1 }))),
  },
  'silent receivers at 70 ports': {
    begin: async (endings) => {
      const uris = await Promise.all(Array.from({ length: 70 }, () => silentPort(endings)));
      return (bad, round) =>
        round < 8
          ? bad.setMany(uris.map((uri) => ({ in: '100ms', uri, timeout: '110s' })))
          : Promise.resolve();
    },
  },
};

export const worst: readonly string[] = Object.keys(kinds);

/** Status of a recurring timer of the namespace after its attack. */
export function statusAfter(name: string): number {
  return kinds[name]?.status ?? 200;
}

/** How many of a thousand timers were taken. */
async function setAndCancel(client: Carillon): Promise<number> {
  const specs = Array.from({ length: 1000 }, () => ({ in: '1h', uri: closed }));
  const ids = (await client.setMany(specs)).flatMap((one) => (one.ok ? one.id : []));
  await Promise.all(ids.map((id) => client.cancel(id)));
  return ids.length;
}

/** Refuses every callback for good: each becomes a dead letter at once. */
async function goneReceiver(endings: Ending[]): Promise<string> {
  const server = createHttpServer((request, response) => {
    request.resume();
    response.writeHead(410).end();
  });
  const port = await listening(server);
  endings.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${port}/`;
}

/** Takes connections and says nothing. */
async function silentPort(endings: Ending[]): Promise<string> {
  const server: Server = createServer((socket) => socket.on('error', () => undefined));
  const port = await listening(server);
  endings.push(() => server.close());
  return `http://127.0.0.1:${port}/`;
}

export async function tenantRun(name: string, times: TenantTimes): Promise<TenantResult> {
  const endings: Ending[] = [];
  try {
    return await run(name, times, endings);
  } finally {
    for (const end of endings.toReversed()) await end();
  }
}

async function run(name: string, times: TenantTimes, endings: Ending[]): Promise<TenantResult> {
  const { flags = [], begin } = kinds[name] ?? { begin: async () => () => Promise.resolve() };
  const served = await serve(['--name', 'one', '--memory', '--log-level', 'warn', ...flags]);
  endings.push(() => served.process.kill('SIGKILL'));
  const receiver = new Receiver();
  endings.push(() => receiver.close());
  const uri = await receiver.listen();
  const clientOf = (namespace: string): Carillon =>
    new Carillon({ members: [served.url], refresh: null, timeout: '60s', namespace });
  const [bad, good] = [clientOf('bad'), clientOf('good')];
  const other = new Other(good, receiver, uri);
  const watch = new Watch(served.process.pid);
  for (const endMs = performance.now() + times.quietMs; performance.now() < endMs; ) {
    await other.round();
  }
  const quiet = other.pops();
  watch.begin();
  const act = await begin(endings);
  const endMs = performance.now() + times.attackedMs;
  for (let round = 0; performance.now() < endMs; round++) {
    await act(bad, round, `${uri}/bad`);
    await other.round();
    watch.look();
  }
  const all = other.pops();
  const once = new Set(all.filter(({ attempt }) => attempt === 1).map(({ opaque }) => opaque));
  const statuses = { bad: await statusOf(bad, uri), good: await statusOf(good, uri) };
  return {
    quietP99Ms: latenessAt(quiet, 0.99),
    attackedP99Ms: latenessAt(all.slice(quiet.length), 0.99),
    waitedMs: watch.waitedMs,
    refusedSets: other.refusedSets,
    repeated: all.length - once.size,
    pops: all.length,
    letters: await letters(served.url),
    grownBytes: watch.grownBytes,
    statuses,
  };
}

/** The namespace that does nothing wrong. */
class Other {
  refusedSets = 0;
  private readonly client: Carillon;
  private readonly receiver: Receiver;
  private readonly uri: string;
  private asked = 0;

  constructor(client: Carillon, receiver: Receiver, uri: string) {
    this.client = client;
    this.receiver = receiver;
    this.uri = uri;
  }

  pops(): Callback[] {
    return this.receiver.callbacks.filter(({ opaque }) => opaque.startsWith('good'));
  }

  /** Sets some timers and waits for all of them. */
  async round(): Promise<void> {
    const { uri } = this;
    const outcomes = await this.client.setMany(
      Array.from({ length: timersOfRound }, () => {
        return { in: '100ms', uri, opaque: `good ${this.asked++}` };
      }),
    );
    this.refusedSets += outcomes.filter(({ ok }) => !ok).length;
    const due = this.asked - this.refusedSets;
    await until('every pop of the other namespace', 60_000, async () => this.pops().length >= due);
  }
}

/** Memory of a process, and the time in which it could have run and had no processor. */
class Watch {
  /** The longest of one round. */
  waitedMs = 0;
  grownBytes = 0;
  private readonly pid: number;
  private rssBytes = 0;
  private waitedBeforeMs = 0;

  constructor(pid: number) {
    this.pid = pid;
  }

  begin(): void {
    this.rssBytes = readProcess(this.pid)?.rssBytes ?? 0;
    this.waitedBeforeMs = this.waited();
  }

  look(): void {
    const waitedMs = this.waited();
    this.waitedMs = Math.max(this.waitedMs, waitedMs - this.waitedBeforeMs);
    this.waitedBeforeMs = waitedMs;
    const rssBytes = readProcess(this.pid)?.rssBytes ?? 0;
    this.grownBytes = Math.max(this.grownBytes, rssBytes - this.rssBytes);
  }

  private waited(): number {
    return (readProcess(this.pid)?.waitedNs.get(String(this.pid)) ?? 0) / 1e6;
  }
}

/** Of a recurring timer that the client sets. */
async function statusOf(client: Carillon, uri: string): Promise<number> {
  try {
    await client.set({ every: '1h', forever: true, uri });
    return 200;
  } catch (error) {
    return error instanceof ApiError ? error.status : 0;
  }
}

async function letters(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^carillon_timers\{state="dead"\} (\d+)$/m.exec(text)?.[1] ?? 0);
}

/** Below this, a p99 of some hundred pops is noise. */
const lateFloorMs = 50;

/**
 * Twice the lateness without the attack, and the time for which others on the machine kept the processor from the
 * member.
 */
export function lateMsMax({ quietP99Ms, waitedMs }: TenantResult): number {
  return Math.max(2 * quietP99Ms, lateFloorMs) + waitedMs;
}

/** More memory than a namespace may make a member take: its letters, its timers and the garbage of both. */
export const grownBytesMax = 256 * kib * kib;
