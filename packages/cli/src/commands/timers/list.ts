/** `carillon list`: timers of the whole cluster. */
import type { Timer, TimerState } from '@carillon/client';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { type OptionKinds, parseOptions, wholeNumber } from '../../options.ts';
import { type Json, listJson } from '../../timers/api-timer.ts';
import { shownState } from '../../timers/shown-state.ts';
import { fromNow, jsonLine, paintErr, shorten, table } from '../../terminal/style.ts';

const states = ['pending', 'retrying', 'dead'] as const satisfies readonly TimerState[];
const roles = ['primary', 'backup'] as const;
const kinds = {
  ...connectOptions,
  tag: 'text',
  state: 'text',
  member: 'text',
  role: 'text',
  limit: 'text',
  all: 'flag',
} as const satisfies OptionKinds;
/** With --all a table is printed in pieces of this many, so that nothing waits for the end. */
const pieceLength = 1000;

export const command: Command = {
  name: 'list',
  summary: 'List timers.',
  usage: `Usage: carillon list [flags]

  --tag TAG        Only timers with this tag
  --state STATE    Only timers in this state: ${states.join(', ')}
  --member NAME    Only timers that this member holds
  --role ROLE      As what, with --member: ${roles.join(' or ')}
  --limit N        At most N timers; default 100
  --all            All of them; exit 1 when a member did not answer, so that some may be missing
${connectUsage}`,
  values: { '--state': states, '--role': roles },
  examples: ['carillon list --tag ticks', 'carillon list --state retrying --all --json'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    if (operands.length > 0) {
      throw new UsageError(`"${operands[0]}" is too much here; carillon get shows one timer.`);
    }
    if (flags.all && flags.limit !== undefined) {
      throw new UsageError('Give --limit or --all, not both.');
    }
    const state = flags.state === undefined ? undefined : stateOf(flags.state);
    const role = flags.role === undefined ? undefined : roleOf(flags.role, flags.member);
    const limit = flags.all
      ? Number.POSITIVE_INFINITY
      : wholeNumber('--limit', flags.limit ?? '100', { min: 1, max: 1_000_000_000 });
    const missing = new Set<string>();
    const onMissing = (members: readonly string[]): void => {
      const first = members.filter((name) => !missing.has(name));
      for (const name of first) missing.add(name);
      if (first.length === 0) return;
      io.err(paintErr(io, 'yellow', `No answer from ${first.join(', ')}: timers may be missing.`));
    };
    // A list that should be whole and is not has failed.
    const ending = (): number => (flags.all && missing.size > 0 ? exit.failed : exit.done);
    const client = connect(flags, io);
    const pageSize = Math.min(limit, pieceLength);
    if (flags.json) {
      const query = { tag: flags.tag, state, member: flags.member, role };
      const timers = listJson(client, { path: '/timers', query, pageSize, onMissing }, io);
      await printJson(timers, limit, io);
      return ending();
    }
    const timers = client.list({
      ...(flags.tag !== undefined && { tag: flags.tag }),
      ...(state !== undefined && { state }),
      ...(flags.member !== undefined && { member: flags.member }),
      ...(role !== undefined && { role }),
      pageSize,
      signal: io.signal,
      onMissing,
    });
    await printTable(timers, limit, io);
    return ending();
  },
};

function stateOf(text: string): TimerState {
  const state = states.find((known) => known === text);
  if (state !== undefined) return state;
  throw new UsageError(`--state must be one of ${states.join(', ')}, not "${text}".`);
}

function roleOf(text: string, member: string | undefined): (typeof roles)[number] {
  const role = roles.find((known) => known === text);
  if (role !== undefined && member !== undefined) return role;
  throw new UsageError(`--role must be ${roles.join(' or ')}, and goes with --member NAME.`);
}

async function printJson(timers: AsyncIterable<Json>, limit: number, io: Io): Promise<void> {
  let left = limit;
  for await (const timer of timers) {
    jsonLine(io, timer);
    if (--left <= 0) break;
  }
}

async function printTable(timers: AsyncIterable<Timer>, limit: number, io: Io): Promise<void> {
  let count = 0;
  let piece: Timer[] = [];
  for await (const timer of timers) {
    // One more than asked for is there: say so and stop.
    if (count === limit) {
      io.out(timerTable(piece, io));
      io.err(`The first ${limit}; --all shows all, --limit N more.`);
      return;
    }
    count++;
    piece.push(timer);
    if (piece.length < pieceLength || count === limit) continue;
    io.out(timerTable(piece, io));
    piece = [];
  }
  if (count === 0) io.err('No timers.');
  else if (piece.length > 0) io.out(timerTable(piece, io));
}

function timerTable(timers: readonly Timer[], io: Io): string {
  const nowMs = Date.now();
  const rows = timers.map((timer) => [
    timer.id,
    shownState(timer),
    timer.attempt === 0 ? '-' : String(timer.attempt),
    timer.lastOutcome === null ? '-' : String(timer.lastOutcome),
    fromNow(timer.attempt > 0 ? timer.nextAttempt : timer.nextDue, nowMs),
    String(timer.sequence),
    shorten(timer.tags.join(','), 24) || '-',
    shorten(timer.uri, 60),
  ]);
  return table(io, ['ID', 'STATE', 'FAILED', 'LAST', 'NEXT', 'POPS', 'TAGS', 'CALLS'], rows);
}
