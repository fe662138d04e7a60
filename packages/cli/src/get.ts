/** `carillon get`: one timer, with what became of it. */
import type { Timer } from '@carillon/client';
import { type Command, exit, type Io, UsageError } from './command.ts';
import { connect, connectOptions, connectUsage } from './connect.ts';
import { parseOptions } from './options.ts';
import { facts, fromNow, jsonLine, shorten } from './style.ts';

export const command: Command = {
  name: 'get',
  summary: 'Show a timer.',
  usage: `Usage: carillon get ID\n\n${connectUsage}`,
  examples: ['carillon get 0d1e1d1ab81140010000204080102040-2'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, connectOptions);
    const [id, extra] = operands;
    if (id === undefined || extra !== undefined) {
      throw new UsageError('Name one timer by its id, as in carillon get ID.');
    }
    const timer = await connect(flags, io).get(id, { signal: io.signal });
    if (timer === null) {
      io.err(
        flags.json
          ? JSON.stringify({ error: 'No timer has this id.' })
          : `No timer has the id ${id}.`,
      );
      return exit.failed;
    }
    if (flags.json) jsonLine(io, timer);
    else io.out(timerText(timer, io, Date.now()));
    return exit.done;
  },
};

function timerText(timer: Timer, io: Io, nowMs: number): string {
  const at = (date: Date | null): string =>
    date === null ? '-' : `${date.toISOString()} (${fromNow(date, nowMs)})`;
  const outcome = timer.lastOutcome === null ? '-' : String(timer.lastOutcome);
  return facts(io, [
    ['id', timer.id],
    ['state', timer.state],
    ['next pop', at(timer.nextDue)],
    ...(timer.attempt > 0 ? ([['next attempt', at(timer.nextAttempt)]] as const) : []),
    ['pops so far', String(timer.sequence)],
    ['failed attempts', String(timer.attempt)],
    ['last outcome', outcome],
    ['timing', JSON.stringify(timer.timing)],
    ['calls', timer.uri],
    ['opaque', shorten(timer.opaque, 200)],
    ['tags', timer.tags.join(', ') || '-'],
    ['set', at(timer.setAt)],
    ['members', `${timer.replicas.join(', ')} (factor ${timer.factor})`],
  ]);
}
