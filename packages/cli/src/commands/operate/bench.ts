/** `carillon bench`: sets timers at a running member or cluster, receives their callbacks, and reports the result. */
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Carillon, type TimerSpec, UnreachableError } from '@carillon/client';
import { formatDuration } from '@carillon/core';
import { BenchReceiver } from '../../member/bench-receiver.ts';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { inParallel } from '../../timers/in-parallel.ts';
import { duration, type OptionKinds, parseOptions, wholeNumber } from '../../options.ts';
import { Progress } from '../../terminal/progress.ts';
import { facts, jsonFacts, paint } from '../../terminal/style.ts';

const kinds = {
  ...connectOptions,
  timers: 'text',
  spread: 'text',
  interval: 'text',
  wait: 'text',
} as const satisfies OptionKinds;
const batchLength = 250;
const width = 8;
const pollMs = 100;
/** After the last pop, for one that comes twice. */
const settleMs = 1000;

export const command: Command = {
  name: 'bench',
  summary: 'Set many timers, receive their pops, and tell how late they were.',
  usage: `Usage: carillon bench [flags]

Receives the pops itself on a free port of 127.0.0.1, so the members must run on this machine and may call it. Lateness
is from the due time to the arrival here. Exit 1 when a timer was refused, lost or early.

  --timers N           Number of timers; default 1000
  --interval DURATION  The shortest time to a pop; default 2s
  --spread DURATION    The pops come within this time after the shortest; default 30s
  --wait DURATION      A pop counts as lost this long after the last due time; default 10s
${connectUsage}`,
  examples: ['carillon bench', 'carillon bench --timers 100000 --spread 1m --json'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    if (operands.length > 0) {
      throw new UsageError(`"${operands[0]}" is too much here; --timers says how many.`);
    }
    const options: BenchOptions = {
      timers: wholeNumber('--timers', flags.timers ?? '1000', { min: 1, max: 1_000_000 }),
      intervalMs: duration('--interval', flags.interval ?? '2s'),
      spreadMs: duration('--spread', flags.spread ?? '30s'),
      waitMs: duration('--wait', flags.wait ?? '10s'),
    };
    const bench = new Bench(connect(flags, io), options, io, !flags.json);
    const result = await bench.run();
    if (flags.json) jsonFacts(io, result);
    else io.out(resultText(result, io));
    const { refused, lost, early } = result;
    return refused + lost + early === 0 ? exit.done : exit.failed;
  },
};

interface BenchOptions {
  readonly timers: number;
  readonly intervalMs: number;
  readonly spreadMs: number;
  readonly waitMs: number;
}

interface BenchResult {
  /** Confirmed by the cluster. */
  readonly set: number;
  readonly refused: number;
  readonly setsPerSecond: number;
  readonly popped: number;
  readonly lost: number;
  readonly doubles: number;
  readonly early: number;
  /** null: nothing popped. */
  readonly latenessMs: Record<'p50' | 'p99' | 'max', number | null>;
}

class Bench {
  private readonly client: Carillon;
  private readonly options: BenchOptions;
  private readonly io: Io;
  private readonly progress: Progress;
  private readonly receiver: BenchReceiver;
  private readonly tag = `bench:${randomUUID()}`;
  private readonly confirmed: number[] = [];
  private refused = 0;
  private lastDueMs = 0;

  constructor(client: Carillon, options: BenchOptions, io: Io, shown: boolean) {
    this.client = client;
    this.options = options;
    this.io = io;
    this.progress = new Progress(io, shown);
    this.receiver = new BenchReceiver(options.timers);
  }

  async run(): Promise<BenchResult> {
    const { receiver } = this;
    const uri = await receiver.listen();
    let tidy = false;
    try {
      const startMs = performance.now();
      await inParallel(this.batches(), width, (first) => this.setBatch(uri, first));
      const tookMs = performance.now() - startMs;
      await this.waitForPops();
      const result = this.result(tookMs);
      tidy = result.lost === 0 && result.refused === 0;
      return result;
    } finally {
      // Timers that remain would call a closed port, or the port of another program.
      if (!tidy) await this.client.cancelByTag(this.tag).catch(() => 0);
      receiver.close();
    }
  }

  /** The first index of each batch. */
  private *batches(): Generator<number> {
    for (let first = 0; first < this.options.timers; first += batchLength) yield first;
  }

  private async setBatch(uri: string, first: number): Promise<void> {
    const { client, io, options, receiver, progress } = this;
    const { timers, intervalMs, spreadMs } = options;
    const count = Math.min(batchLength, timers - first);
    const waitsMs = Array.from({ length: count }, () =>
      Math.round(intervalMs + Math.random() * spreadMs),
    );
    const specs = waitsMs.map(
      (inMs, i): TimerSpec => ({ in: inMs, uri, opaque: String(first + i), tags: [this.tag] }),
    );
    const sentMs = performance.now();
    waitsMs.forEach((inMs, i) => receiver.expect(first + i, sentMs + inMs));
    const outcomes = await client.setMany(specs, { signal: io.signal }).catch((error: unknown) => {
      // The first batch fails when no member is there; later ones may meet a member that just fell.
      if (this.confirmed.length === 0 || !(error instanceof UnreachableError)) throw error;
      return [];
    });
    for (let i = 0; i < count; i++) {
      if (outcomes[i]?.ok === true) this.confirmed.push(first + i);
      else this.refused++;
    }
    this.lastDueMs = Math.max(this.lastDueMs, performance.now() + intervalMs + spreadMs);
    const done = this.confirmed.length + this.refused;
    progress.update(done / timers, `${done} of ${timers} set`);
  }

  private async waitForPops(): Promise<void> {
    const { io, confirmed, options, progress, receiver } = this;
    const endMs = this.lastDueMs + options.waitMs;
    const popped = (): number => receiver.arrived / Math.max(1, confirmed.length);
    while (performance.now() < endMs && !confirmed.every((index) => receiver.has(index))) {
      progress.update(popped(), `${receiver.arrived} of ${confirmed.length} popped`);
      await sleep(pollMs, undefined, { signal: io.signal });
    }
    await sleep(Math.min(settleMs, options.waitMs), undefined, { signal: io.signal });
  }

  private result(tookMs: number): BenchResult {
    const { confirmed, receiver, refused } = this;
    const lost = confirmed.filter((index) => !receiver.has(index)).length;
    return {
      set: confirmed.length,
      refused,
      setsPerSecond: Math.round((confirmed.length / Math.max(1, tookMs)) * 1000),
      popped: receiver.arrived,
      lost,
      doubles: receiver.doubles,
      early: receiver.early,
      latenessMs: {
        p50: receiver.lateness(0.5),
        p99: receiver.lateness(0.99),
        max: receiver.lateness(1),
      },
    };
  }
}

function resultText(result: BenchResult, io: Io): string {
  const { latenessMs, refused, lost, doubles, early } = result;
  const late = (ms: number | null): string => (ms === null ? '-' : formatDuration(Math.max(0, ms)));
  const bad = (count: number): string => (count === 0 ? '0' : paint(io, 'red', String(count)));
  const { p50, p99, max } = latenessMs;
  const numbers = facts(io, [
    ['set', `${result.set}, ${result.setsPerSecond} a second`],
    ['popped', String(result.popped)],
    ['late by', `${late(p50)} (p50), ${late(p99)} (p99), ${late(max)} (most)`],
  ]);
  // Not through `facts`, which would make the colours harmless.
  return `${numbers}\nrefused ${bad(refused)}, lost ${bad(lost)}, early ${bad(early)}, double ${bad(doubles)}`;
}
