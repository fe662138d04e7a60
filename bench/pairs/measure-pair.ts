/**
 * One pair: a member of each of two builds, both alive, that take pieces of the same load in turn: A B, B A, A B … A
 * machine that is busy for a second slows a piece of each. All CPU of a member counts that it uses until the end, also
 * while the other one has its turn: work that is put off is not left out.
 */
import { join } from 'node:path';
import { ServerProcess } from '../support/server-process.ts';
import type { System } from '../systems/system.ts';
import { type Session, withSession } from '../workloads/session.ts';

export interface Build {
  readonly folder: string;
  readonly nodeFlags: readonly string[];
  /** Further arguments of `carillon serve`. */
  readonly args: readonly string[];
}

export interface Costs {
  readonly setMicros: number;
  readonly popMicros: number;
}

export interface PairSizes {
  /** Sets before the first that counts, and the ones that count. */
  readonly warmSetCount: number;
  readonly setCount: number;
  /** Sets in one turn. */
  readonly turnCount: number;
  /** Bursts before the first that counts, and the ones that count. */
  readonly warmBurstCount: number;
  readonly burstCount: number;
  readonly burst: { readonly timerCount: number; readonly leadMs: number };
}

type Both<T> = readonly [a: T, b: T];

const graceMs = 40_000;

/** `isSwapped`: B goes first. */
export function measurePair(
  [a, b]: Both<Build>,
  isSwapped: boolean,
  sizes: PairSizes,
): Promise<[Costs, Costs]> {
  return withSession(memberOf(a), (one) =>
    withSession(memberOf(b), async (other) => {
      const sets = await setMicros([one, other], isSwapped, sizes);
      const pops = await popMicros([one, other], isSwapped, sizes);
      return [
        { setMicros: sets[0], popMicros: pops[0] },
        { setMicros: sets[1], popMicros: pops[1] },
      ];
    }),
  );
}

async function setMicros(
  sessions: Both<Session>,
  isSwapped: boolean,
  { warmSetCount, setCount, turnCount }: PairSizes,
): Promise<Both<number>> {
  let firstIndex = 0;
  const inTurns = (count: number): Promise<void> =>
    takeTurns(sessions, { isSwapped, count: count / turnCount }, async (session) => {
      await session.run({ call: 'set', count: turnCount, firstIndex });
      firstIndex += turnCount;
    });
  await inTurns(warmSetCount);
  const before = cpuOf(sessions);
  await inTurns(setCount);
  const after = cpuOf(sessions);
  return [microsOf(after[0] - before[0], setCount), microsOf(after[1] - before[1], setCount)];
}

/** The CPU of a burst without that of setting its timers. */
async function popMicros(
  sessions: Both<Session>,
  isSwapped: boolean,
  sizes: PairSizes,
): Promise<Both<number>> {
  const { warmBurstCount, burstCount } = sizes;
  const settingMs = new Map<Session, number>();
  const inTurns = (count: number): Promise<void> =>
    takeTurns(sessions, { isSwapped, count }, async (session) => {
      const ms = await burst(session, sizes);
      settingMs.set(session, (settingMs.get(session) ?? 0) + ms);
    });
  await inTurns(warmBurstCount);
  settingMs.clear();
  const before = cpuOf(sessions);
  await inTurns(burstCount);
  const after = cpuOf(sessions);
  const count = burstCount * sizes.burst.timerCount;
  const micros = (i: 0 | 1): number =>
    microsOf(after[i] - before[i] - (settingMs.get(sessions[i]) ?? 0), count);
  return [micros(0), micros(1)];
}

/** Until all pops of timers that are due together have come. Returns the CPU of setting them, in milliseconds. */
async function burst(session: Session, { burst: sizes }: PairSizes): Promise<number> {
  const { timerCount, leadMs } = sizes;
  await session.expect({ timerCount });
  const firstMs = Date.now() + leadMs;
  const due = { firstMs, stepMs: 0 };
  const { serverCpuMs } = await session.run({ call: 'setMany', count: timerCount, due });
  if (Date.now() > firstMs) throw new Error('Timers of a burst were due before all were set.');
  const { timers } = await session.arrivals(timerCount, firstMs + graceMs);
  if (timers < timerCount) throw new Error(`Of ${timerCount} timers ${timers} popped.`);
  return serverCpuMs;
}

async function takeTurns(
  sessions: Both<Session>,
  { isSwapped, count }: { readonly isSwapped: boolean; readonly count: number },
  take: (session: Session) => Promise<void>,
): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    const isForward = (turn % 2 === 0) !== isSwapped;
    const order = isForward ? sessions : sessions.toReversed();
    for (const session of order) await take(session);
  }
}

function cpuOf([a, b]: Both<Session>): Both<number> {
  return [a.cpuMs(), b.cpuMs()];
}

function microsOf(ms: number, count: number): number {
  return (ms * 1000) / count;
}

function memberOf({ folder: clone, nodeFlags, args }: Build): Pick<System, 'start'> {
  return {
    start: async ({ folder, uri }) => {
      const script = join(clone, 'packages/cli/src/main.ts');
      const flags = ['--listen', '127.0.0.1:0', '--data', folder, '--log-level', 'warn'];
      const member = await ServerProcess.start(
        script,
        ['serve', '--json', ...flags, ...args],
        nodeFlags,
      );
      return {
        pids: () => [member.pid],
        setter: { kind: 'carillon', urls: [member.url.href], uri, factor: 1 },
        work: async () => {},
        settle: async () => {},
        pending: async () => 0,
        restart: null,
        stop: () => member.end(),
      };
    },
  };
}
