/** `carillon apply`: makes the timers of the cluster match the ones that a file declares. */
import { readFile } from 'node:fs/promises';
import { ApiError, type Carillon } from '@carillon/client';
import { parseTimerId, sentenceOf } from '@carillon/core';
import {
  getTimer,
  type Json,
  listJson,
  namesTimer,
  sameDefinition,
  textOf,
} from '../../timers/api-timer.ts';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import {
  type Declared,
  type DeclaredSet,
  nameTag,
  readDeclared,
  setTag,
} from '../../timers/declared.ts';
import { inParallel } from '../../timers/in-parallel.ts';
import { type OptionKinds, parseOptions } from '../../options.ts';
import { jsonLine, oneLine, paint, paintErr, shorten, table } from '../../terminal/style.ts';

const kinds = {
  ...connectOptions,
  file: 'text',
  set: 'text',
  prune: 'flag',
  'dry-run': 'flag',
} as const satisfies OptionKinds;
const width = 8;

/** `over`: a single pop whose instant has passed; setting it would pop it at once. */
type Action = 'create' | 'replace' | 'unchanged' | 'over' | 'delete';

interface Step {
  readonly action: Action;
  readonly name: string;
  readonly id: string;
  readonly calls: string;
  /** The body to set; null: nothing to set. */
  readonly body: Json | null;
}

export const command: Command = {
  name: 'apply',
  summary: 'Make the timers match a file.',
  usage: `Usage: carillon apply -f FILE [flags]

FILE is YAML or JSON: a list of timers, or a map of "set" and "timers". Each has a name, a uri, and one of every, at and
cron; a recurring one has one of for, until, count and forever. Each may have timezone, opaque, method, headers,
timeout, batch, retry, tags and factor. Prints a plan, then carries it out: timers that are as declared are left alone,
and a recurring timer that has ended is created anew. Timers get the tags applied:SET and name:NAME.

  -f, --file FILE  The declared timers
  --set NAME       The set that they belong to; default: the file's "set", else default
  --prune          Delete timers of the set that are no longer declared; the set must be named
  --dry-run        Only print the plan
${connectUsage}`,
  examples: [
    'carillon apply -f timers.yaml --dry-run',
    'carillon apply -f timers.yaml --set billing --prune',
  ],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(
      args.map((arg) => (arg === '-f' ? '--file' : arg)),
      kinds,
    );
    const { file } = flags;
    if (file === undefined || operands.length > 0) {
      throw new UsageError(
        'Name the file of declared timers once, as in carillon apply -f timers.yaml.',
      );
    }
    const client = connect(flags, io);
    const wanted = await declaredIn(file, flags.set);
    if (flags.prune && !wanted.named) {
      throw new UsageError('--prune needs to know the set: --set NAME, or "set" in the file.');
    }
    const steps = await planOf(client, wanted, flags.prune, io);
    if (!flags.json) printPlan(steps, io);
    if (flags['dry-run']) {
      if (flags.json) for (const step of steps) jsonLine(io, resultOf(step, false));
      else io.out(summary(steps, 'would be '));
      return exit.done;
    }
    return perform(client, steps, flags.json, io);
  },
};

async function declaredIn(file: string, set: string | undefined): Promise<DeclaredSet> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`The file ${file} cannot be read: ${sentenceOf(error)}`, { cause: error });
  });
  try {
    return readDeclared(text, set);
  } catch (error) {
    throw new UsageError(`${file}: ${sentenceOf(error)}`, { cause: error });
  }
}

async function planOf(
  client: Carillon,
  { set, timers }: DeclaredSet,
  prune: boolean,
  io: Io,
): Promise<Step[]> {
  const steps = new Map<string, Step>();
  await inParallel(timers, width, async (timer) => {
    steps.set(timer.name, await stepOf(client, timer, io));
  });
  // In the order of the file, not of the answers.
  const declared = timers.flatMap(({ name }) => steps.get(name) ?? []);
  return prune ? [...declared, ...(await surplus(client, set, timers, io))] : declared;
}

async function stepOf(client: Carillon, timer: Declared, io: Io): Promise<Step> {
  const { name, id, body, atMs } = timer;
  const present = await getTimer(client, id, io);
  const step = { name, id, calls: uriOf(body) };
  if (present !== null && sameDefinition(present.definition, body)) {
    return { ...step, action: 'unchanged', body: null };
  }
  if (atMs !== null && atMs <= Date.now()) return { ...step, action: 'over', body: null };
  return { ...step, action: present === null ? 'create' : 'replace', body };
}

/** Timers of the set that are not declared any more. */
async function surplus(
  client: Carillon,
  set: string,
  timers: readonly Declared[],
  io: Io,
): Promise<Step[]> {
  const numbers = new Set(timers.map(({ id }) => numberOf(id)));
  const steps: Step[] = [];
  const onMissing = (members: readonly string[]): void =>
    io.err(paintErr(io, 'yellow', `No answer from ${members.join(', ')}: not all may be pruned.`));
  for await (const json of listJson(
    client,
    { path: '/timers', query: { tag: setTag(set) }, onMissing },
    io,
  )) {
    const id = textOf(json['id']);
    if (parseTimerId(id) === null || numbers.has(numberOf(id))) continue;
    const { tags } = json;
    const prefix = nameTag('');
    const named = (Array.isArray(tags) ? tags : [])
      .map(textOf)
      .find((tag) => tag.startsWith(prefix));
    const name = named?.slice(prefix.length) ?? '-';
    steps.push({ action: 'delete', name, id, calls: uriOf(json), body: null });
  }
  return steps;
}

/** The factor may change; the number is the timer. */
function numberOf(id: string): string {
  return id.slice(0, 16);
}

function uriOf(definition: Json): string {
  const { callback } = definition as { callback?: { http?: { uri?: unknown } } };
  return textOf(callback?.http?.uri);
}

/** Sets first. Nothing is deleted when a set failed: the timer to delete may be the one that it replaces. */
async function perform(
  client: Carillon,
  steps: readonly Step[],
  asJson: boolean,
  io: Io,
): Promise<number> {
  let failed = 0;
  const { signal } = io;
  const attempt = async (step: Step): Promise<void> => {
    const { id, body, action } = step;
    try {
      if (body !== null)
        await client.request({
          method: 'PUT',
          path: `/timers/${id}`,
          body,
          signal,
          fits: namesTimer,
        });
      if (action === 'delete') await client.cancel(id, { signal });
      if (asJson) jsonLine(io, resultOf(step, true));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failed++;
      if (asJson) jsonLine(io, { ...resultOf(step, false), error: error.message });
      else io.err(paintErr(io, 'red', oneLine(`${step.name}: ${error.message}`)));
    }
  };
  const deletions = steps.filter(({ action }) => action === 'delete');
  await inParallel(
    steps.filter(({ action }) => action !== 'delete'),
    width,
    attempt,
  );
  if (failed === 0) await inParallel(deletions, width, attempt);
  else if (deletions.length > 0)
    io.err('Nothing was deleted, because not everything could be set.');
  if (!asJson && failed === 0) io.out(summary(steps, ''));
  return failed === 0 ? exit.done : exit.failed;
}

function resultOf({ action, name, id }: Step, done: boolean): object {
  return { action, name, id, done: done && action !== 'unchanged' && action !== 'over' };
}

const colours = {
  create: 'green',
  replace: 'yellow',
  unchanged: 'dim',
  over: 'dim',
  delete: 'red',
} as const;

function printPlan(steps: readonly Step[], io: Io): void {
  if (steps.length === 0) return io.err('No timers are declared.');
  const rows = steps.map(({ action, name, id, calls }) => [action, name, id, shorten(calls, 60)]);
  const [titles = '', ...lines] = table(io, ['ACTION', 'NAME', 'ID', 'CALLS'], rows).split('\n');
  const painted = lines.map((line, i) => paint(io, colours[steps[i]?.action ?? 'unchanged'], line));
  io.out([titles, ...painted].join('\n'));
}

function summary(steps: readonly Step[], would: string): string {
  const count = (wanted: Action): number => steps.filter(({ action }) => action === wanted).length;
  const done = `${count('create')} ${would}created, ${count('replace')} ${would}replaced, ${count('delete')} ${would}deleted`;
  const over = count('over') === 0 ? '' : `, ${count('over')} over`;
  return `${done}, ${count('unchanged')} unchanged${over}.`;
}
