/** `carillon dead-letters`: pops that gave up. */
import type { Carillon, DeadLetter } from '@carillon/client';
import { type Command, exit, type Io, UsageError } from '../command.ts';
import { connect, connectOptions, connectUsage } from '../member/connect.ts';
import { type OptionKinds, parseOptions } from '../options.ts';
import { listJson } from '../timers/api-timer.ts';
import { fromNow, jsonLine, paintErr, shorten, table } from '../terminal/style.ts';

const kinds = { ...connectOptions, all: 'flag' } as const satisfies OptionKinds;

export const command: Command = {
  name: 'dead-letters',
  summary: 'Pops that gave up: list them, send them again, or discard them.',
  usage: `Usage: carillon dead-letters list
       carillon dead-letters redeliver ID... | --all
       carillon dead-letters discard ID... | --all

  --all            Every dead letter there is
${connectUsage}`,
  examples: [
    'carillon dead-letters list',
    'carillon dead-letters redeliver --all',
    'carillon dead-letters discard 0d1e1d1ab81140010000204080102040-2',
  ],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const [action, ...ids] = operands;
    const client = connect(flags, io);
    if (action === 'list') return list(client, io, flags.json);
    if (action !== 'redeliver' && action !== 'discard') {
      throw new UsageError('Say what to do: list, redeliver or discard.');
    }
    if (flags.all === ids.length > 0) {
      throw new UsageError(`Name the dead letters to ${action} by id, or all of them with --all.`);
    }
    if (flags.all && action === 'discard') return discardAll(client, io, flags.json);
    const chosen = flags.all ? await allIds(client, io) : ids;
    let failed = 0;
    for (const id of chosen) {
      const found = await client.deadLetters[action](id, { signal: io.signal });
      if (!found) failed++;
      if (flags.json) jsonLine(io, { id, found });
      else if (found) io.out(`${id} ${action === 'redeliver' ? 'pops again.' : 'discarded.'}`);
      else io.err(`No dead letter has the id ${id}.`);
    }
    if (chosen.length === 0 && !flags.json) io.err('No dead letters.');
    return failed === 0 ? exit.done : exit.failed;
  },
};

function letters(client: Carillon, io: Io): AsyncGenerator<DeadLetter, void, undefined> {
  return client.deadLetters.list({
    pageSize: 1000,
    signal: io.signal,
    onMissing: missingWarning(io),
  });
}

function missingWarning(io: Io): (members: readonly string[]) => void {
  return (members) =>
    io.err(paintErr(io, 'yellow', `No answer from ${members.join(', ')}: some may be missing.`));
}

async function discardAll(client: Carillon, io: Io, asJson: boolean): Promise<number> {
  const discarded = await client.deadLetters.discardAll({ signal: io.signal });
  if (asJson) jsonLine(io, { discarded });
  else if (discarded === 0) io.err('No dead letters.');
  else io.out(`${discarded} discarded.`);
  return exit.done;
}

async function allIds(client: Carillon, io: Io): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of letters(client, io)) ids.push(id);
  return ids;
}

async function list(client: Carillon, io: Io, asJson: boolean): Promise<number> {
  if (asJson) {
    const pages = { path: '/dead-letters', onMissing: missingWarning(io) } as const;
    for await (const letter of listJson(client, pages, io)) jsonLine(io, letter);
    return exit.done;
  }
  const rows: string[][] = [];
  for await (const letter of letters(client, io)) rows.push(rowOf(letter));
  if (rows.length === 0) io.err('No dead letters.');
  else io.out(table(io, ['ID', 'POP', 'DUE', 'ATTEMPTS', 'REASON', 'CALLS'], rows));
  return exit.done;
}

function rowOf(letter: DeadLetter): string[] {
  return [
    letter.id,
    String(letter.sequence),
    fromNow(letter.due, Date.now()),
    String(letter.attempts),
    shorten(letter.reason, 40),
    shorten(letter.uri, 60),
  ];
}
