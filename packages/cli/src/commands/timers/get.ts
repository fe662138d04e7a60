/** `carillon get`: one timer, with its state. */
import { ApiError, type Attempts, type Carillon, type Timer } from '@carillon/client';
import { formatDuration, parseLooseTimerId, timerIdFault } from '@carillon/core';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { parseOptions } from '../../options.ts';
import { getJson } from '../../timers/api-timer.ts';
import { shownState } from '../../timers/shown-state.ts';
import { ownName } from '../../terminal/own-name.ts';
import {
  facts,
  fromNow,
  jsonLine,
  oneLine,
  paintErr,
  shorten,
  table,
  untilDue,
} from '../../terminal/style.ts';

export const command: Command = {
  name: 'get',
  summary: 'Show a timer.',
  usage: `Usage: carillon get ID

Shows the timer and how its newest callbacks went, as far as members remember: also of a timer that has ended.

${connectUsage}`,
  examples: ['carillon get 0d1e1d1ab81140010000204080102040-2'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, connectOptions);
    const [id, extra] = operands;
    if (id === undefined || extra !== undefined) {
      throw new UsageError('Name one timer by its id, as in carillon get ID.');
    }
    const client = connect(flags, io);
    const found = await (flags.json ? showJson(client, id, io) : showText(client, id, io));
    return found ? exit.done : exit.failed;
  },
};

/** In the API's own form. Whether there is such a timer. */
async function showJson(client: Carillon, id: string, io: Io): Promise<boolean> {
  const path = `/timers/${id}`;
  const timer = await getJson(client, { path, needs: 'id' }, io);
  const attempts = { path: `${path}/attempts`, needs: 'attempts' };
  const tried = (await getJson(client, attempts, io)) ?? {};
  if (timer !== null) jsonLine(io, { ...timer, ...tried });
  else {
    const end = await endOf(client, id, io);
    const error = end === null ? unknown(id) : end.says;
    io.err(JSON.stringify({ error, ...end?.members, ...tried }));
  }
  return timer !== null;
}

async function showText(client: Carillon, id: string, io: Io): Promise<boolean> {
  const timer = await client.get(id, { signal: io.signal });
  const tried = await attemptsOf(client, id, io.signal);
  if (timer === null) io.err(await whyGone(client, id, io));
  else {
    io.out(timerText(timer, io, Date.now()));
    if (timer.deadLetter !== null) io.err(redeliverHint(timer.deadLetter));
  }
  if (tried.attempts.length > 0) io.out(`\n${attemptsText(tried, io)}`);
  if (tried.missing.length > 0) {
    const names = tried.missing.join(', ');
    io.err(paintErr(io, 'yellow', `No answer from ${names}: attempts may be missing.`));
  }
  return timer !== null;
}

/** How the timer ended, where its last pop is if that was given up, and how to read on: its history is kept longer. */
async function whyGone(client: Carillon, id: string, io: Io): Promise<string> {
  const end = await endOf(client, id, io);
  const history = `Its attempts and changes: ${ownName} history ${oneLine(id)}`;
  if (end === null)
    return parseLooseTimerId(id) === null ? unknown(id) : `${unknown(id)}\n${history}`;
  const letter = end.members['dead-letter'];
  const again = typeof letter === 'string' ? `\n${redeliverHint(letter)}` : '';
  return `${oneLine(end.says)}${again}\n${history}`;
}

function unknown(id: string): string {
  const shown = oneLine(id);
  const fault = timerIdFault(id);
  return fault === null ? `No timer has the id ${shown}.` : `"${shown}": ${fault}`;
}

interface End {
  readonly says: string;
  /** Members of the answer that tell of the end. */
  readonly members: Readonly<Record<string, unknown>>;
}

const endNames = ['ended', 'ended-at', 'pops', 'dead-letter'];

/** null: the end is not remembered, or there never was such a timer. */
async function endOf(client: Carillon, id: string, io: Io): Promise<End | null> {
  try {
    await client.request({ method: 'GET', path: `/timers/${id}`, signal: io.signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.problem?.['ended'] === undefined) return null;
    const { problem } = error;
    const told = endNames.filter((name) => problem[name] !== undefined);
    return {
      says: withoutRequest(error.message),
      members: Object.fromEntries(told.map((name) => [name, problem[name]])),
    };
  }
  return null;
}

/** Without the request that shows the dead letter: a command follows instead. */
function withoutRequest(text: string): string {
  const at = text.indexOf(' GET /dead-letters/');
  return at === -1 ? text : text.slice(0, at);
}

function redeliverHint(letter: string): string {
  return `Deliver it again: ${ownName} dead-letters redeliver ${oneLine(letter)}`;
}

/** Members of an older release do not know the question. */
async function attemptsOf(client: Carillon, id: string, signal: AbortSignal): Promise<Attempts> {
  try {
    return await client.attempts(id, { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { attempts: [], missing: [] };
    throw error;
  }
}

function attemptsText({ attempts }: Attempts, io: Io): string {
  const rows = attempts.map(({ pop, attempt, at, latenessMs, tookMs, status, member, detail }) => [
    at?.toISOString() ?? '-',
    String(pop),
    String(attempt),
    String(status),
    formatDuration(latenessMs),
    formatDuration(tookMs),
    member,
    shorten(detail, 100),
  ]);
  return table(
    io,
    ['CALLED', 'POP', 'ATTEMPT', 'STATUS', 'LATENESS', 'TOOK', 'MEMBER', 'DETAIL'],
    rows,
  );
}

/** Without an answer, the detail is in the words of the member. */
function detailLabel({ lastOutcome }: Timer): string {
  return typeof lastOutcome === 'number' ? 'receiver said' : 'no answer';
}

function timerText(timer: Timer, io: Io, nowMs: number): string {
  const at = (date: Date | null, words = fromNow): string =>
    date === null ? '-' : `${date.toISOString()} (${words(date, nowMs)})`;
  const outcome = timer.lastOutcome === null ? '-' : String(timer.lastOutcome);
  return facts(io, [
    ['id', timer.id],
    ['state', shownState(timer)],
    // Of a pop that is tried again, the due time has passed.
    [timer.attempt > 0 ? 'pop was due' : 'next pop', at(timer.nextDue)],
    ...(timer.attempt > 0 ? ([['next attempt', at(timer.nextAttempt, untilDue)]] as const) : []),
    ['pops so far', String(timer.sequence)],
    ['failed attempts', String(timer.attempt)],
    ['last outcome', outcome],
    ...(timer.lastFailure === null ? [] : ([['failure', timer.lastFailure]] as const)),
    ...(timer.lastDetail === null
      ? []
      : ([[detailLabel(timer), shorten(timer.lastDetail, 200)]] as const)),
    ...(timer.deadLetter === null ? [] : ([['dead letter', timer.deadLetter]] as const)),
    ['timing', JSON.stringify(timer.timing)],
    ['calls', timer.uri],
    ...(timer.onFailure === null ? [] : ([['on failure', timer.onFailure]] as const)),
    ...(timer.event === null ? [] : ([['event', timer.event]] as const)),
    ['opaque', shorten(timer.opaque, 200)],
    ['tags', timer.tags.join(', ') || '-'],
    ['set', at(timer.setAt)],
    ['members', `${timer.replicas.join(', ')} (factor ${timer.factor})`],
  ]);
}
