/**
 * One pair: a member of each of two builds, both alive, that take short turns of the same load: A B, B A, A B … In its
 * turn a member takes single sets, all due at one instant soon after, and then pops them. A machine that is busy for a
 * second slows a turn of each. Members of the same code share a process (`serve-both.ts`).
 *
 * A turn lasts until the next one begins. All CPU counts that either member uses meanwhile: the other one is idle.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeMs } from '../support/process-tree.ts';
import { ServerProcess } from '../support/server-process.ts';
import { freePort } from '../systems/server.ts';
import type { Running, System } from '../systems/system.ts';
import { type Session, withSession } from '../workloads/session.ts';
import type { Pair } from './ratio.ts';

export interface Build {
  readonly folder: string;
  readonly nodeFlags: readonly string[];
  /** Further arguments of `carillon serve`. */
  readonly args: readonly string[];
}

export interface PairSizes {
  /** Timers that stay pending: the first sets of a member make its code fast. */
  readonly pendingCount: number;
  /** Turns before the first that counts, and the ones that count. */
  readonly warmTurnCount: number;
  readonly turnCount: number;
  /** Sets, and then pops, of one turn. */
  readonly turnLength: number;
}

type Both<T> = readonly [a: T, b: T];
type Startable = Pick<System, 'start'>;

/** CPU so far, before a turn and between its sets and its pops. */
interface Reading {
  readonly startMs: number;
  readonly setMs: number;
}

const graceMs = 40_000;
/** From the first set of a turn to its pops: long enough for all sets, also on a busy machine. */
const leadMsMin = 150;
const leadRatio = 3;
/** From the last arrival until its outcome is written. */
const restMs = 30;

/**
 * `isSwapped`: B is started first, and goes first. The member that starts first is dearer or cheaper by some percent in
 * all turns, so half of the pairs are swapped.
 */
export async function measurePair(
  [a, b]: Both<Build>,
  isSwapped: boolean,
  sizes: PairSizes,
): Promise<Pair> {
  if (!isSwapped) return measureInOrder([a, b], sizes);
  const swapped = await measureInOrder([b, a], sizes);
  return { a: swapped.b, b: swapped.a };
}

function measureInOrder(builds: Both<Build>, sizes: PairSizes): Promise<Pair> {
  const [first, second] = membersOf(builds);
  return withSession(first, (one) =>
    withSession(second, async (other) => {
      const turns = new Turns([one, other], sizes);
      await turns.warmUp();
      await turns.take(sizes.warmTurnCount);
      return turns.take(sizes.turnCount);
    }),
  );
}

class Turns {
  private readonly sessions: Both<Session>;
  private readonly sizes: PairSizes;
  private leadMs = leadMsMin;

  constructor(sessions: Both<Session>, sizes: PairSizes) {
    this.sessions = sessions;
    this.sizes = sizes;
  }

  /** Timers that stay, and make the code fast. */
  async warmUp(): Promise<void> {
    const { pendingCount: count } = this.sizes;
    for (const session of this.sessions) await session.run({ call: 'setMany', count });
  }

  /** So many turns of each. */
  async take(count: number): Promise<Pair> {
    const readings: (Reading & { readonly session: Session })[] = [];
    for (let turn = 0; turn < count; turn++) {
      const order = turn % 2 === 0 ? this.sessions : this.sessions.toReversed();
      for (const session of order) readings.push({ session, ...(await this.turn(session)) });
    }
    const endMs = this.cpuMs();
    const micros = (ms: number): number => (ms * 1000) / this.sizes.turnLength;
    const costs = readings.map(({ session, startMs, setMs }, i) => ({
      session,
      set: micros(setMs - startMs),
      pop: micros((readings[i + 1]?.startMs ?? endMs) - setMs),
    }));
    const [a, b] = this.sessions;
    return {
      a: costs.filter(({ session }) => session === a),
      b: costs.filter(({ session }) => session === b),
    };
  }

  /** Until all pops have come. A turn whose timers were due before all were set is taken again. */
  private async turn(session: Session): Promise<Reading> {
    const count = this.sizes.turnLength;
    for (;;) {
      await session.expect({ timerCount: count });
      const startMs = this.cpuMs();
      const firstMs = Date.now() + this.leadMs;
      const due = { firstMs, stepMs: 0 };
      const { seconds } = await session.run({ call: 'set', count, due });
      const isInTime = Date.now() < firstMs;
      const setMs = this.cpuMs();
      const { timers } = await session.arrivals(count, firstMs + graceMs);
      if (timers < count) throw new Error(`Of ${count} timers ${timers} popped.`);
      await sleep(restMs);
      this.leadMs = Math.max(leadMsMin, seconds * 1000 * leadRatio);
      if (isInTime) return { startMs, setMs };
    }
  }

  private cpuMs(): number {
    const pids = this.sessions.flatMap((session) => session.running.pids());
    return codeMs([...new Set(pids)]);
  }
}

/** Of both builds; in one process where both are the same code. */
function membersOf([a, b]: Both<Build>): Both<Startable> {
  const isSameCode = a.folder === b.folder && String(a.nodeFlags) === String(b.nodeFlags);
  return isSameCode ? together(a, b) : [memberOf(a), memberOf(b)];
}

function memberOf({ folder: clone, nodeFlags, args }: Build): Startable {
  return {
    start: async ({ folder, uri }) => {
      const script = join(clone, 'packages/cli/src/main.ts');
      const all = ['serve', '--json', ...flagsOf('127.0.0.1:0', folder), ...args];
      const member = await ServerProcess.start(script, all, nodeFlags);
      return runningOf(member, member.url.href, uri);
    },
  };
}

/** The process starts with the first of the two, and ends with it: sessions end in the opposite order. */
function together(a: Build, b: Build): Both<Startable> {
  const script = join(import.meta.dirname, 'serve-both.ts');
  const started: { process: ServerProcess | null; otherUrl: string } = {
    process: null,
    otherUrl: '',
  };
  const first: Startable = {
    start: async ({ folder, uri }) => {
      const listens = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`] as const;
      const lists = [
        [...flagsOf(listens[0], join(folder, 'a')), ...a.args],
        [...flagsOf(listens[1], join(folder, 'b')), ...b.args],
      ];
      started.process = await ServerProcess.start(
        script,
        lists.map((list) => JSON.stringify(list)),
        a.nodeFlags,
      );
      started.otherUrl = `http://${listens[1]}/`;
      return runningOf(started.process, `http://${listens[0]}/`, uri);
    },
  };
  const second: Startable = {
    start: async ({ uri }) => {
      if (started.process === null) throw new Error('The first member is started first.');
      return { ...runningOf(started.process, started.otherUrl, uri), stop: async () => {} };
    },
  };
  return [first, second];
}

function flagsOf(listen: string, folder: string): string[] {
  return ['--listen', listen, '--data', folder, '--log-level', 'warn'];
}

function runningOf(member: ServerProcess, url: string, uri: string): Running {
  return {
    pids: () => [member.pid],
    setter: { kind: 'carillon', urls: [url], uri, factor: 1 },
    work: async () => {},
    settle: async () => {},
    pending: async () => 0,
    restart: null,
    stop: () => member.end(),
  };
}
