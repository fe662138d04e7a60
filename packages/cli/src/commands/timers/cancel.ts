/** `carillon cancel`: by id, or all with a tag. */
import { type Command, exit, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { parseOptions } from '../../options.ts';
import { jsonLine } from '../../terminal/style.ts';

export const command: Command = {
  name: 'cancel',
  summary: 'Cancel timers by id, or all with a tag.',
  usage: `Usage: carillon cancel ID...
       carillon cancel --tag TAG

A timer that is not there counts as cancelled.

  --tag TAG        All timers with this tag
${connectUsage}`,
  examples: ['carillon cancel 0d1e1d1ab81140010000204080102040-2', 'carillon cancel --tag ticks'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, { ...connectOptions, tag: 'text' });
    const { tag } = flags;
    if ((tag === undefined) === (operands.length === 0)) {
      throw new UsageError('Name timers by id, or a tag with --tag, and not both.');
    }
    const client = connect(flags, io);
    const { signal } = io;
    if (tag !== undefined) {
      const cancelled = await client.cancelByTag(tag, { signal });
      if (flags.json) jsonLine(io, { cancelled });
      else io.out(`${cancelled} cancelled.`);
      return exit.done;
    }
    for (const id of operands) {
      const confirmed = await client.cancel(id, { signal });
      if (flags.json) jsonLine(io, confirmed);
      else io.out(`${confirmed.id} cancelled.`);
    }
    return exit.done;
  },
};
