/** `carillon set`: one timer from the command line. */
import { readFile } from 'node:fs/promises';
import type { Ending, RetrySpec, TimerSpec, When } from '@carillon/client';
import { parseDuration } from '@carillon/core';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import {
  duration,
  instant,
  type OptionKinds,
  type Parsed,
  parseOptions,
  wholeNumber,
} from '../../options.ts';
import { jsonLine } from '../../terminal/style.ts';

const instantForm = 'an instant such as 2030-01-31T09:00:00Z';

/** The flags that say when. */
export const whenKinds = {
  every: 'text',
  for: 'text',
  until: 'text',
  count: 'text',
  forever: 'flag',
  at: 'text',
  cron: 'text',
  timezone: 'text',
} as const satisfies OptionKinds;

const kinds = {
  ...connectOptions,
  opaque: 'text',
  'opaque-file': 'text',
  ...whenKinds,
  tag: 'list',
  factor: 'text',
  id: 'text',
  method: 'text',
  header: 'list',
  timeout: 'text',
  batch: 'flag',
  form: 'text',
  'on-failure': 'text',
  'retry-limit': 'text',
  'retry-base': 'text',
  'retry-max-wait': 'text',
  'retry-max-attempts': 'text',
  'idempotency-key': 'text',
} as const satisfies OptionKinds;

type Flags = Parsed<typeof kinds>['flags'];

type WhenFlags = Parsed<typeof whenKinds>['flags'];

export const command: Command = {
  name: 'set',
  summary: 'Set a timer, or replace one.',
  usage: `Usage: carillon set DURATION URL [flags]
       carillon set URL --every DURATION | --at INSTANT | --cron PATTERN [flags]

Prints the id of the timer. DURATION is such as 250ms, 10s, 1.5m, 2h, 1d.

When
  --every DURATION   Pop again and again; needs an ending
  --at INSTANT       Pop once, at 2030-01-31T09:00:00Z
  --cron PATTERN     Pop by a cron pattern; needs an ending
  --timezone NAME    Time zone of the pattern, such as Europe/Berlin; default UTC
  --for DURATION     Ending: after this time
  --until INSTANT    Ending: no pop after this
  --count N          Ending: after N pops
  --forever          No ending, on purpose

What
  --opaque TEXT      Comes back as the body of the callback
  --opaque-file FILE The same from a file; - is standard input
  --tag TAG          To find and cancel it by; may be repeated
  --factor N         How many members hold it, 1 to 16
  --id ID            Replace this timer, or create it under this id
  --method NAME      Method of the callback; default POST
  --header "A: B"    Sent with the callback; may be repeated
  --timeout DURATION Time limit of one attempt of the callback
  --batch            Callbacks due together may come in one request (NDJSON)
  --form NAME        plain (default), or cloudevents: with the headers of a CloudEvent
  --idempotency-key KEY  Two sets under one key make one timer

A callback that fails is tried again
  --retry-limit DURATION     Given up this long after the first attempt
  --retry-base DURATION      The longest wait before the first retry; doubles with each
  --retry-max-wait DURATION  The longest wait between two attempts
  --retry-max-attempts N     Given up after N attempts
  --on-failure URL           Gets an event for each pop that is given up

Members to ask
${connectUsage}`,
  examples: [
    'carillon set 10s http://127.0.0.1:8080/done --opaque "order 17"',
    'carillon set http://127.0.0.1:8080/tick --every 10s --for 1m --tag ticks',
    'carillon set http://127.0.0.1:8080/morning --cron "0 9 * * *" --timezone Europe/Berlin --count 5',
  ],
  run: runSet,
};

async function runSet(args: readonly string[], io: Io): Promise<number> {
  const { flags, operands } = parseOptions(args, kinds);
  const body = await opaqueOf(flags, io);
  const spec = specOf({ ...flags, opaque: body }, operands);
  const client = connect(flags, io);
  const { signal } = io;
  const key = flags['idempotency-key'];
  const confirmed =
    flags.id === undefined
      ? await client.set(spec, key === undefined ? { signal } : { signal, idempotencyKey: key })
      : await client.replace(flags.id, spec, { signal });
  if (flags.json) {
    jsonLine(io, confirmed);
    return exit.done;
  }
  io.out(confirmed.id);
  const { copies } = confirmed;
  if (copies !== null && copies.have < copies.wanted) {
    io.err(`Only ${copies.have} of ${copies.wanted} members hold it so far.`);
  }
  return exit.done;
}

/** Throws UsageError. */
export function specOf(flags: Flags, operands: readonly string[]): TimerSpec {
  const [first, second, extra] = operands;
  const uri = second ?? first;
  if (uri === undefined || extra !== undefined) {
    throw new UsageError(
      'Say when to call and which URL, as in carillon set 10s http://host/path.',
    );
  }
  if (second === undefined && parseDuration(uri) !== null) {
    throw new UsageError(
      `The URL to call is missing: name it last, as in carillon set ${uri} http://host/path.`,
    );
  }
  if (!isUrl(uri)) throw new UsageError(noUrl(uri, second === undefined ? undefined : first));
  const { opaque, tag, factor, method, timeout, batch, header } = flags;
  return {
    ...whenOf(flags, second === undefined ? undefined : first),
    uri,
    ...(opaque !== undefined && { opaque }),
    ...(tag.length > 0 && { tags: tag }),
    ...(factor !== undefined && { factor: wholeNumber('--factor', factor, { min: 1, max: 16 }) }),
    ...(method !== undefined && { method }),
    ...(timeout !== undefined && { timeout: duration('--timeout', timeout) }),
    ...(batch && { batch }),
    ...formOf(flags.form),
    ...onFailureOf(flags['on-failure']),
    ...retryOf(flags),
    ...(header.length > 0 && { headers: Object.fromEntries(header.map(headerOf)) }),
  };
}

function isUrl(text: string): boolean {
  return /^https?:\/\//.test(text);
}

/** The sentence about an operand that is no URL; `before`: the one in front of it. */
function noUrl(text: string, before: string | undefined): string {
  if (before === undefined || !isUrl(before))
    return `"${text}" is not an http or https URL to call back.`;
  const after = parseDuration(text) === null ? '10s' : text;
  return `The duration comes first, as in carillon set ${after} ${before}`;
}

/** Throws UsageError for both flags at once. */
async function opaqueOf(flags: Flags, io: Io): Promise<string | undefined> {
  const { opaque, 'opaque-file': file } = flags;
  if (file === undefined) return opaque;
  if (opaque !== undefined) throw new UsageError('Give --opaque or --opaque-file, not both.');
  if (file !== '-') return readFile(file, 'utf8');
  const chunks: Uint8Array[] = [];
  for await (const chunk of io.input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString('utf8');
}

function formOf(name: string | undefined): Pick<TimerSpec, 'form'> {
  if (name === undefined) return {};
  if (name === 'plain' || name === 'cloudevents') return { form: name };
  throw new UsageError(`--form must be plain or cloudevents, not "${name}".`);
}

function onFailureOf(uri: string | undefined): Pick<TimerSpec, 'onFailure'> {
  if (uri === undefined) return {};
  if (isUrl(uri)) return { onFailure: { uri } };
  throw new UsageError(`--on-failure must be an http or https URL, not "${uri}".`);
}

function retryOf(flags: Flags): { readonly retry?: RetrySpec } {
  const time = (name: 'retry-limit' | 'retry-base' | 'retry-max-wait'): number | undefined =>
    flags[name] === undefined ? undefined : duration(`--${name}`, flags[name]);
  const [limit, base, maxWait] = [time('retry-limit'), time('retry-base'), time('retry-max-wait')];
  const attempts = flags['retry-max-attempts'];
  const retry = {
    ...(limit !== undefined && { limit }),
    ...(base !== undefined && { base }),
    ...(maxWait !== undefined && { maxWait }),
    ...(attempts !== undefined && {
      maxAttempts: wholeNumber('--retry-max-attempts', attempts, { min: 1, max: 1_000_000 }),
    }),
  };
  return Object.keys(retry).length === 0 ? {} : { retry };
}

/** Throws UsageError. */
export function whenOf(flags: WhenFlags, after: string | undefined): When {
  const { at, cron, timezone, every } = flags;
  const ways = [after ?? every, at, cron].filter((way) => way !== undefined);
  if (ways.length === 0) {
    throw new UsageError('Say when: a duration before the URL, or --every, --at or --cron.');
  }
  if (ways.length > 1) {
    throw new UsageError('Say when in one way only: a duration, --every, --at or --cron.');
  }
  const ending = endingOf(flags);
  if (at !== undefined) {
    if (ending !== null)
      throw new UsageError('--at is one pop: leave out --for, --until, --count, --forever.');
    return { at: instant('--at', at, instantForm) };
  }
  if (cron !== undefined) {
    if (ending === null) throw new UsageError(endingNeeded('--cron'));
    return { cron, ...(timezone !== undefined && { timezone }), ...ending };
  }
  const interval = intervalOf(after, every);
  if (ending !== null) return { every: interval, ...ending };
  if (every !== undefined) throw new UsageError(endingNeeded('--every'));
  return { in: interval };
}

function intervalOf(after: string | undefined, every: string | undefined): number {
  const afterMs = after === undefined ? null : duration('The time to wait', after);
  const everyMs = every === undefined ? null : duration('--every', every);
  if (afterMs !== null && everyMs !== null && afterMs !== everyMs) {
    throw new UsageError('The first pop comes after one interval: give --every alone.');
  }
  return everyMs ?? afterMs ?? 0;
}

/** null: none was given. Throws UsageError. */
function endingOf({ for: length, until, count, forever }: WhenFlags): Ending | null {
  const given: Ending[] = [
    ...(length === undefined ? [] : [{ for: duration('--for', length) }]),
    ...(until === undefined ? [] : [{ until: instant('--until', until, instantForm) }]),
    ...(count === undefined
      ? []
      : [{ count: wholeNumber('--count', count, { min: 1, max: 2 ** 32 - 1 }) }]),
    ...(forever ? [{ forever } as const] : []),
  ];
  if (given.length > 1) {
    throw new UsageError('Give one ending only: --for, --until, --count or --forever.');
  }
  return given[0] ?? null;
}

function endingNeeded(flag: string): string {
  return `${flag} needs an ending: --for DURATION, --until INSTANT, --count N, or --forever.`;
}

function headerOf(text: string): [string, string] {
  const colon = text.indexOf(':');
  if (colon > 0) return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()];
  throw new UsageError(`--header must be such as "X-Name: value", not "${text}".`);
}
