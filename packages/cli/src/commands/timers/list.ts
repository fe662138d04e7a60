/** `carillon list`: timers of the whole cluster. */
import type { ListOptions, Timer } from '@carillon/client';
import { parseDuration } from '@carillon/core';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { instant, type OptionKinds, parseOptions, wholeNumber } from '../../options.ts';
import { type Json, listJson } from '../../timers/api-timer.ts';
import { ownName } from '../../terminal/own-name.ts';
import { shownState } from '../../timers/shown-state.ts';
import { jsonLine, paintErr, shorten, table, untilDue } from '../../terminal/style.ts';

const states = ['pending', 'retrying', 'failing', 'dead'] as const;
type ListedState = (typeof states)[number];
const orders = ['due'] as const;
const roles = ['primary', 'backup'] as const;
const kinds = {
  ...connectOptions,
  tag: 'text',
  'tag-prefix': 'text',
  receiver: 'text',
  failure: 'text',
  state: 'text',
  order: 'text',
  from: 'text',
  to: 'text',
  member: 'text',
  role: 'text',
  limit: 'text',
  all: 'flag',
  count: 'flag',
} as const satisfies OptionKinds;
/** The API gives ids of letters here, and neither timer nor pop. */
const lettersHint = `These are ids of dead letters. Their pops and reasons: ${ownName} dead-letters list`;
/** With --all a table is printed in pieces of this many, so that nothing waits for the end. */
const pieceLength = 1000;
/** A page that no index helps may take a minute, where there are millions of timers. */
const listTimeout = '70s';

export const command: Command = {
  name: 'list',
  summary: 'List timers.',
  usage: `Usage: carillon list [flags]

  --tag TAG        Only timers with this tag
  --tag-prefix TEXT  Only timers with a tag that begins like this
  --receiver URL   Only timers that call this origin, or origin and whole first segments of a path
  --failure CLASS  Only timers whose newest attempt failed like this: 5xx, refused, timeout, 503 …
  --state STATE    Only timers in this state: ${states.join(', ')}
  --order due      By the time of the next attempt, soonest first
  --from WHEN      Only timers whose next attempt is then or later: an instant, or a duration from now
  --to WHEN        Only timers whose next attempt is before then
  --member NAME    Only timers that this member holds
  --role ROLE      With --member: only timers of which it is ${roles.join(' or ')}
  --limit N        At most N timers; default 100
  --all            All of them; exit 1 when a member did not answer, so that some may be missing
  --count          Print only the number of timers
${connectUsage}`,
  values: { '--state': states, '--role': roles, '--order': orders },
  examples: [
    'carillon list --order due --to 1h',
    'carillon list --tag-prefix order: --count',
    'carillon list --state retrying --receiver http://a.example:8080 --all --json',
  ],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    if (operands.length > 0) {
      throw new UsageError(`"${operands[0]}" is too much here; carillon get shows one timer.`);
    }
    if (flags.all && flags.limit !== undefined) {
      throw new UsageError('Give --limit or --all, not both.');
    }
    const which = whichOf(flags, Date.now());
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
    const client = connect(flags, io, { timeout: listTimeout });
    const pageSize = Math.min(limit, pieceLength);
    if (flags.count) {
      const { count, exact } = await client.count({ ...which, signal: io.signal });
      if (flags.json) jsonLine(io, { count, exact });
      else io.out(`${exact ? '' : 'about '}${count}`);
      return exit.done;
    }
    if (flags.json) {
      const query = queryOf(which);
      const timers = listJson(client, { path: '/timers', query, pageSize, onMissing }, io);
      await printJson(timers, limit, io);
      return ending();
    }
    const timers = client.list({ ...which, pageSize, signal: io.signal, onMissing });
    const count = await printTable(timers, limit, io);
    if (which.state === 'dead' && count > 0) io.err(lettersHint);
    return ending();
  },
};

interface WhichFlags {
  readonly tag?: string | undefined;
  readonly 'tag-prefix'?: string | undefined;
  readonly receiver?: string | undefined;
  readonly failure?: string | undefined;
  readonly state?: string | undefined;
  readonly order?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly member?: string | undefined;
  readonly role?: string | undefined;
}

type Which = Omit<ListOptions, 'pageSize' | 'signal' | 'onMissing'>;

function whichOf(flags: WhichFlags, nowMs: number): Which {
  const { tag, receiver, failure, member } = flags;
  if (flags.order !== undefined && flags.order !== 'due') {
    throw new UsageError(`--order must be due, not "${flags.order}".`);
  }
  return {
    ...(tag !== undefined && { tag }),
    ...(flags['tag-prefix'] !== undefined && { tagPrefix: flags['tag-prefix'] }),
    ...(receiver !== undefined && { receiver }),
    ...(failure !== undefined && { failure }),
    ...(flags.state !== undefined && { state: stateOf(flags.state) }),
    ...(flags.order !== undefined && { order: flags.order }),
    ...(flags.from !== undefined && { from: whenOf('--from', flags.from, nowMs) }),
    ...(flags.to !== undefined && { to: whenOf('--to', flags.to, nowMs) }),
    ...(member !== undefined && { member }),
    ...(flags.role !== undefined && { role: roleOf(flags.role, member) }),
  };
}

/** As the API has them. */
function queryOf({ tagPrefix, from, to, ...same }: Which): Record<string, string | undefined> {
  return {
    ...same,
    'tag-prefix': tagPrefix,
    from: from?.toISOString(),
    to: to?.toISOString(),
  };
}

/** An instant, or a duration from now. */
function whenOf(flag: string, text: string, nowMs: number): Date {
  const ms = parseDuration(text);
  if (ms !== null) return new Date(nowMs + ms);
  const form = 'an instant such as 2030-01-31T09:00:00Z, or a duration from now such as 1h';
  return instant(flag, text, form);
}

function stateOf(text: string): ListedState {
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

async function printTable(timers: AsyncIterable<Timer>, limit: number, io: Io): Promise<number> {
  let count = 0;
  let piece: Timer[] = [];
  for await (const timer of timers) {
    // One more than asked for is there: say so and stop.
    if (count === limit) {
      io.out(timerTable(piece, io));
      io.err(`The first ${limit}; --all shows all, --limit N more.`);
      return count;
    }
    count++;
    piece.push(timer);
    if (piece.length < pieceLength || count === limit) continue;
    io.out(timerTable(piece, io));
    piece = [];
  }
  if (count === 0) io.err('No timers.');
  else if (piece.length > 0) io.out(timerTable(piece, io));
  return count;
}

function timerTable(timers: readonly Timer[], io: Io): string {
  const nowMs = Date.now();
  // A column for the words of receivers, where there are any.
  const hasDetails = timers.some(({ lastDetail }) => lastDetail !== null);
  const rows = timers.map((timer) => [
    timer.id,
    shownState(timer),
    timer.attempt === 0 ? '-' : String(timer.attempt),
    timer.lastOutcome === null ? '-' : String(timer.lastOutcome),
    untilDue(timer.attempt > 0 ? timer.nextAttempt : timer.nextDue, nowMs),
    String(timer.sequence),
    shorten(timer.tags.join(','), 24) || '-',
    shorten(timer.uri, 60),
    ...(hasDetails ? [shorten(timer.lastDetail ?? '', 80) || '-'] : []),
  ]);
  const heads = ['ID', 'STATE', 'FAILED', 'LAST', 'NEXT', 'POPS', 'TAGS', 'CALLS'];
  return table(io, hasDetails ? [...heads, 'DETAIL'] : heads, rows);
}
