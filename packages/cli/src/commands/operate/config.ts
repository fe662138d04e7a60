/** `carillon config`: the values that a member would run with, and where each comes from. */
import type { ConfigEntry } from '@carillon/server';
import { type Command, exit, UsageError } from '../../command.ts';
import { memberConfig, memberUsage, memberValues } from '../../member/member-config.ts';
import { unknownAction } from '../../options.ts';
import { jsonLine, table } from '../../terminal/style.ts';

export const command: Command = {
  name: 'config',
  summary: 'Print or check the configuration of a member.',
  usage: `Usage: carillon config print [flags of serve]
       carillon config check [flags of serve]

print    Every option with its value and where it comes from. Secrets are not shown.
check    Lists every fault; exit 0 when there is none.

${memberUsage}
  --json                 One JSON object a line`,
  values: memberValues,
  examples: ['carillon config print', 'carillon config check --config carillon.yaml'],
  run: (args, io) => {
    const { loaded, operands, json } = memberConfig(args, io);
    const [action, extra] = operands;
    if (action !== 'print' && action !== 'check') throw unknownAction(action, ['print', 'check']);
    if (extra !== undefined) throw new UsageError(`"${extra}" is too much here.`);
    if (!loaded.ok) {
      for (const problem of loaded.problems) {
        io.err(json ? JSON.stringify({ error: problem }) : problem);
      }
      return Promise.resolve(exit.failed);
    }
    if (action === 'check') {
      if (json) jsonLine(io, { ok: true });
      else io.out('The configuration is right.');
    } else if (json) {
      for (const entry of loaded.entries) jsonLine(io, shownEntry(entry));
    } else {
      const rows = loaded.entries.map((entry) => {
        const { key, value, from } = shownEntry(entry);
        return [key, typeof value === 'string' ? value : JSON.stringify(value), from];
      });
      io.out(table(io, ['OPTION', 'VALUE', 'FROM'], rows));
    }
    return Promise.resolve(exit.done);
  },
};

function shownEntry({ key, value, origin, secret }: ConfigEntry) {
  const count = Array.isArray(value) ? value.length : 1;
  const from = origin.source === 'default' ? 'default' : `${origin.source} ${origin.name}`;
  return { key, value: secret && count > 0 ? `(${count} hidden)` : value, from };
}
