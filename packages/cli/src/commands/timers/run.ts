/** `carillon run`: the callback of a timer, now. */
import { ApiError } from '@carillon/client';
import { type Command, exit, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { type OptionKinds, parseOptions } from '../../options.ts';
import { jsonLine, oneLine } from '../../terminal/style.ts';

const kinds = { ...connectOptions, 'idempotency-key': 'text' } as const satisfies OptionKinds;

export const command: Command = {
  name: 'run',
  summary: 'Make the callback of a timer now.',
  usage: `Usage: carillon run ID

Sets a new timer with the same callback that pops once, at once, and prints its id. The timer itself is not touched.

  --idempotency-key KEY  Two runs under one key make one callback
${connectUsage}`,
  examples: ['carillon run 0d1e1d1ab81140010000204080102040-2'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const [id, extra] = operands;
    if (id === undefined || extra !== undefined) {
      throw new UsageError('Name one timer by its id, as in carillon run ID.');
    }
    const key = flags['idempotency-key'];
    const { signal } = io;
    const options = key === undefined ? { signal } : { signal, idempotencyKey: key };
    try {
      const confirmed = await connect(flags, io).run(id, options);
      if (flags.json) jsonLine(io, confirmed);
      else io.out(confirmed.id);
      return exit.done;
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      const says = oneLine(error.message);
      const { status, problem } = error;
      io.err(flags.json ? JSON.stringify({ error: says, status, problem }) : says);
      return exit.failed;
    }
  },
};
