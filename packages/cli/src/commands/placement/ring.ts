/** `carillon ring status`: the members of a lock ring and their slots and locks, read from etcd without joining. */
import { type LockStatus, reach, type RingStatus, ringStatus } from '@carillon/ring';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { commonOptions, parseOptions } from '../../options.ts';
import { etcdOf, ringOptions, ringPlace, ringUsage } from '../../placement/ring-options.ts';
import { jsonLine, oneLine } from '../../terminal/style.ts';

const usage = `Usage: carillon ring status [flags]

Shows the members of a lock ring, how many of its slots each one owns, and the holders and waiters of its locks.
Locks of carillon lock are shown, and locks that programs take with the library and durable: true.

${ringUsage}
  --json           One JSON value instead of text`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { flags, operands } = parseOptions(args, { ...commonOptions, ...ringOptions });
  if (operands.length !== 1 || operands[0] !== 'status') {
    throw new UsageError('It takes one word, status: carillon ring status.');
  }
  const place = ringPlace(flags, io);
  const etcd = etcdOf(place);
  try {
    await reach(etcd, place.endpoints);
    const status = await ringStatus(etcd, place.prefix);
    const { free, ...rest } = status;
    if (flags.json) jsonLine(io, { ring: place.prefix, ...rest, 'free-slots': free });
    else io.out(describe(place.prefix, status));
    return status.config === null ? exit.failed : exit.done;
  } finally {
    await etcd.close();
  }
}

function describe(ring: string, status: RingStatus): string {
  const { config, members, free, locks, revision } = status;
  if (config === null) return `There is no ring "${ring}" at revision ${revision}.`;
  const lines = [
    `ring ${ring} at revision ${revision}: ${config.slots} slots by ${config.placement}, ${free} free`,
    members.length === 0 ? 'no members' : '',
    ...members.map(
      ({ id, phase, weight, slots, incarnation }) =>
        `  ${id}  ${phase}  weight ${weight}  ${slots === 1 ? '1 slot' : `${slots} slots`}  since revision ${incarnation}`,
    ),
    ...locks.map(lockLine),
  ];
  return lines.filter((line) => line !== '').join('\n');
}

function lockLine({ key, holder, token, waiters }: LockStatus): string {
  const held = holder === null ? 'free' : `held by ${holder}  token ${token}`;
  const awaited = waiters.length === 0 ? '' : `  waiting: ${waiters.join(', ')}`;
  return oneLine(`  lock ${key}  ${held}${awaited}`);
}

export const command: Command = {
  name: 'ring',
  summary: 'Show the members and slots of a lock ring.',
  usage,
  examples: ['carillon ring status', 'carillon ring status --ring billing --json'],
  run,
};
