/** `carillon dead-letters`: pops that were given up. */
import type { Carillon, DeadLetter, DeadLetterFilter } from '@carillon/client';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { type OptionKinds, parseOptions, unknownAction, wholeNumber } from '../../options.ts';
import { ownName } from '../../terminal/own-name.ts';
import { Progress } from '../../terminal/progress.ts';
import { fitting, fromNow, jsonLine, paintErr, table } from '../../terminal/style.ts';
import { listJson } from '../../timers/api-timer.ts';
import { inParallel } from '../../timers/in-parallel.ts';
import { paced } from '../../timers/paced.ts';

const kinds = {
  ...connectOptions,
  all: 'flag',
  tag: 'text',
  receiver: 'text',
  failure: 'text',
  rate: 'text',
} as const satisfies OptionKinds;
/** Letters that are worked on at the same time. */
const width = 16;

export const command: Command = {
  name: 'dead-letters',
  summary: 'Pops that were given up: count them, list them, send them again, or discard them.',
  usage: `Usage: carillon dead-letters list [filter]
       carillon dead-letters summary [filter]
       carillon dead-letters redeliver ID... | --all | filter
       carillon dead-letters discard ID... | --all | filter

The list has the newest first; with --json letters come in the order of their ids, as members give them.

  --all              Every dead letter there is
  --receiver ORIGIN  Only letters for this receiver, such as http://a.example:8080, or with whole segments of a path
  --failure WORD     Only letters that failed like this: 4xx, 5xx, refused, timeout, tls …, or an HTTP status
  --tag TAG          Only letters of timers with this tag
  --rate N           redeliver: at most N a second
${connectUsage}`,
  examples: [
    'carillon dead-letters summary',
    'carillon dead-letters redeliver --receiver https://shop.example --rate 50',
    'carillon dead-letters discard 0d1e1d1ab81140010000204080102040-2',
  ],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const [action, ...ids] = operands;
    const { tag, receiver, failure, json } = flags;
    const filter = { tag, receiver, failure };
    const client = connect(flags, io);
    if ((action === 'list' || action === 'summary') && ids.length > 0) {
      throw new UsageError(`"${ids[0]}" is too much here.`);
    }
    if (action === 'list') return list(client, filter, io, json);
    if (action === 'summary') return summary(client, filter, io, json);
    if (action !== 'redeliver' && action !== 'discard') {
      throw unknownAction(action, ['list', 'summary', 'redeliver', 'discard']);
    }
    const many = flags.all || Object.values(filter).some((value) => value !== undefined);
    if (many === ids.length > 0) {
      throw new UsageError(
        `Name the dead letters to ${action} by id, or all of them with --all, or some with --receiver, --failure or --tag.`,
      );
    }
    if (many && action === 'discard') return discardAll(client, filter, io, json);
    const rate = flags.rate === undefined ? null : perSecond(flags.rate);
    const chosen = many ? await idsOf(client, filter, io) : ids;
    return new Work(client, io, json).each(action, chosen, rate);
  },
};

function perSecond(text: string): number {
  return wholeNumber('--rate', text, { min: 1, max: 1_000_000 });
}

/** Sends or discards letters one by one, several at a time, and tells of each. */
class Work {
  private readonly client: Carillon;
  private readonly io: Io;
  private readonly asJson: boolean;

  constructor(client: Carillon, io: Io, asJson: boolean) {
    this.client = client;
    this.io = io;
    this.asJson = asJson;
  }

  async each(
    action: 'redeliver' | 'discard',
    ids: readonly string[],
    rate: number | null,
  ): Promise<number> {
    const { io, client } = this;
    const progress = new Progress(io, !io.terminal && !this.asJson);
    let done = 0;
    let failed = 0;
    const items = rate === null ? ids : paced(ids, rate, io.signal);
    await inParallel(items, width, async (id) => {
      const found = await client.deadLetters[action](id, { signal: io.signal });
      if (!found) failed++;
      this.tell(action, id, found);
      progress.update(++done / ids.length, `${done} of ${ids.length}`);
    });
    if (ids.length === 0 && !this.asJson) io.err('No dead letters.');
    else if (ids.length > 1 && !this.asJson) io.err(this.sum(action, done - failed, failed));
    return failed === 0 ? exit.done : exit.failed;
  }

  private tell(action: 'redeliver' | 'discard', id: string, found: boolean): void {
    const { io } = this;
    if (this.asJson) jsonLine(io, { id, found });
    else if (found) io.out(`${id} ${action === 'redeliver' ? 'pops again.' : 'discarded.'}`);
    else io.err(`No dead letter has the id ${id}.`);
  }

  private sum(action: 'redeliver' | 'discard', done: number, failed: number): string {
    const gone = failed === 0 ? '' : `, ${failed} were gone`;
    if (action === 'discard') return `${done} discarded${gone}.`;
    return `${done} sent again${gone}. Letters that fail again are listed anew: ${ownName} dead-letters list`;
  }
}

function letters(
  client: Carillon,
  filter: DeadLetterFilter,
  io: Io,
): AsyncGenerator<DeadLetter, void, undefined> {
  const { signal } = io;
  return client.deadLetters.list({
    ...filter,
    pageSize: 1000,
    signal,
    onMissing: missingWarning(io),
  });
}

function missingWarning(io: Io): (members: readonly string[]) => void {
  return (members) =>
    io.err(paintErr(io, 'yellow', `No answer from ${members.join(', ')}: some may be missing.`));
}

async function discardAll(
  client: Carillon,
  filter: DeadLetterFilter,
  io: Io,
  asJson: boolean,
): Promise<number> {
  const discarded = await client.deadLetters.discardAll({ ...filter, signal: io.signal });
  if (asJson) jsonLine(io, { discarded });
  else if (discarded === 0) io.err('No dead letters.');
  else io.out(`${discarded} discarded.`);
  return exit.done;
}

async function idsOf(client: Carillon, filter: DeadLetterFilter, io: Io): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of letters(client, filter, io)) ids.push(id);
  return ids;
}

async function summary(
  client: Carillon,
  filter: DeadLetterFilter,
  io: Io,
  asJson: boolean,
): Promise<number> {
  const told = await client.deadLetters.summary({ ...filter, signal: io.signal });
  if (told.missing.length > 0) missingWarning(io)(told.missing);
  if (asJson) jsonLine(io, told);
  else if (told.total === 0) io.err('No dead letters.');
  else io.out(summaryTable(told, io));
  return exit.done;
}

function summaryTable(
  { total, groups }: Awaited<ReturnType<Carillon['deadLetters']['summary']>>,
  io: Io,
): string {
  const nowMs = Date.now();
  const rows = groups.map(({ receiver, failure, count, oldest, newest }) => [
    String(count),
    failure || '-',
    receiver || 'others',
    fromNow(oldest, nowMs),
    fromNow(newest, nowMs),
  ]);
  rows.push([String(total), '', 'in all', '', '']);
  return table(io, ['COUNT', 'FAILURE', 'RECEIVER', 'OLDEST', 'NEWEST'], rows);
}

async function list(
  client: Carillon,
  filter: DeadLetterFilter,
  io: Io,
  asJson: boolean,
): Promise<number> {
  if (asJson) {
    const query = { tag: filter.tag, receiver: filter.receiver, failure: filter.failure };
    const pages = { path: '/dead-letters', query, onMissing: missingWarning(io) } as const;
    for await (const letter of listJson(client, pages, io)) jsonLine(io, letter);
    return exit.done;
  }
  const found: DeadLetter[] = [];
  for await (const letter of letters(client, filter, io)) found.push(letter);
  const gaveUpMs = ({ gaveUp }: DeadLetter): number => gaveUp?.getTime() ?? 0;
  // Pages come in the order of ids; the whole list is here, so it can be sorted.
  const rows = found.toSorted((one, other) => gaveUpMs(other) - gaveUpMs(one)).map(rowOf);
  const titles = ['ID', 'POP', 'DUE', 'ATTEMPTS', 'FAILURE', 'CALLS', 'REASON'];
  if (rows.length === 0) io.err('No dead letters.');
  else io.out(fitting(io, table(io, titles, rows)));
  return exit.done;
}

function rowOf(letter: DeadLetter): string[] {
  return [
    letter.id,
    String(letter.sequence),
    fromNow(letter.due, Date.now()),
    String(letter.attempts),
    letter.lastFailure ?? '-',
    letter.uri,
    withoutFailure(letter) || '-',
  ];
}

/** The reason, without the class of the failure at its beginning: that has a column of its own. */
function withoutFailure({ reason, lastFailure, lastOutcome }: DeadLetter): string {
  const known = [lastFailure, lastOutcome].map(String);
  if (known.includes(reason)) return '';
  const first = known.find((word) => reason.startsWith(`${word}: `));
  return first === undefined ? reason : reason.slice(first.length + 2);
}
