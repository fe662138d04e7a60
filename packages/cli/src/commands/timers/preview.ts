/** `carillon preview`: the next pops of a timer if it were set now. */
import type { Preview, When } from '@carillon/client';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { type OptionKinds, type Parsed, parseOptions } from '../../options.ts';
import { fromNow, jsonLine, table } from '../../terminal/style.ts';
import { whenKinds, whenOf } from './set.ts';

const kinds = { ...connectOptions, ...whenKinds } as const satisfies OptionKinds;

type Flags = Parsed<typeof kinds>['flags'];

export const command: Command = {
  name: 'preview',
  summary: 'The next pops of a timer if it were set now.',
  usage: `Usage: carillon preview PATTERN | DURATION [flags]
       carillon preview --cron PATTERN | --every DURATION | --at INSTANT [flags]

Shows up to five pops, in UTC and in a time zone. Nothing is set. Without an ending a pattern goes on for ever.

  --every DURATION   Again and again
  --at INSTANT       Once, at 2030-01-31T09:00:00Z
  --cron PATTERN     By a cron pattern
  --timezone NAME    Time zone of the pattern and of the local times, such as Europe/Berlin; default UTC
  --for DURATION     Ending: after this time
  --until INSTANT    Ending: no pop after this
  --count N          Ending: after N pops
  --forever          No ending
${connectUsage}`,
  examples: [
    'carillon preview "0 9 * * 1-5" --timezone Europe/Berlin',
    'carillon preview --every 90s --count 3',
    'carillon preview --at 2030-01-31T09:00:00Z --timezone Asia/Tokyo',
  ],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const when = previewedWhen(flags, operands);
    const options = { timezone: flags.timezone, signal: io.signal };
    const preview = await connect(flags, io).preview(when, options);
    if (flags.json) jsonLine(io, preview);
    else print(preview, io);
    return exit.done;
  },
};

/** Throws UsageError. */
function previewedWhen(flags: Flags, operands: readonly string[]): When {
  const [first, extra] = operands;
  if (extra !== undefined) {
    throw new UsageError('Put the pattern in quotes, as in carillon preview "0 9 * * 1-5".');
  }
  const isPattern = first !== undefined && /[ @*]/.test(first);
  if (isPattern && flags.cron !== undefined) {
    throw new UsageError('Give the pattern once: before the flags, or with --cron.');
  }
  const given = isPattern ? { ...flags, cron: first } : flags;
  const isRecurring = given.cron !== undefined || given.every !== undefined;
  const hasEnding = [given.for, given.until, given.count].some((ending) => ending !== undefined);
  const whole = { ...given, forever: given.forever || (isRecurring && !hasEnding) };
  return whenOf(whole, isPattern ? undefined : first);
}

function print({ timezone, pops, more }: Preview, io: Io): void {
  const nowMs = Date.now();
  const zone = timezone.toUpperCase();
  // Local times in UTC would be the same column twice.
  const isLocal = zone !== 'UTC';
  const rows = pops.map(({ due, local }) => [
    due?.toISOString() ?? '-',
    ...(isLocal ? [local] : []),
    fromNow(due, nowMs),
  ]);
  io.out(table(io, ['UTC', ...(isLocal ? [zone] : []), ''], rows));
  if (more) io.err('More pops follow.');
}
