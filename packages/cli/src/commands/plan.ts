/** `carillon plan`: what would move if one set of members or topology became another. Changes nothing. */
import { type Diff, diff, diffKeysMax } from '@carillon/placement';
import { type Command, exit, type Io, UsageError } from '../command.ts';
import { commonOptions, parseOptions, wholeNumber } from '../options.ts';
import {
  policyOptions,
  policyUsage,
  type Targets,
  targetsOf,
} from '../placement/placement-input.ts';
import { facts, jsonLine, table } from '../terminal/style.ts';

/** Rows of the tables for people; --json has all. */
const rowsMax = 20;

const usage = `Usage: carillon plan BEFORE AFTER [flags]

Places a sample of keys before and after, and reports what moves, from where to where, and the least that has
to move for the resulting loads. BEFORE and AFTER are both members (A,B,C) or both topology files (JSON or YAML).

  --sample N             How many keys to try; default 100000
${policyUsage}
  --json                 One JSON object`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { flags, operands } = parseOptions(args, {
    ...commonOptions,
    ...policyOptions,
    sample: 'text',
  });
  const [beforeText, afterText, extra] = operands;
  if (beforeText === undefined || afterText === undefined || extra !== undefined) {
    throw new UsageError('Give two operands: what there is and what there will be.');
  }
  const keys = wholeNumber('--sample', flags.sample ?? '100000', { min: 1, max: diffKeysMax });
  const before = await targetsOf(beforeText, flags);
  const after = await targetsOf(afterText, flags);
  if ((before.topology === null) !== (after.topology === null)) {
    throw new UsageError('BEFORE and AFTER must both be members or both be topology files.');
  }
  const change = diff(before.placer, after.placer, { keys, replicas: after.policy.replicas });
  if (flags.json) jsonLine(io, { before: before.fingerprint, after: after.fingerprint, ...change });
  else printText(io, change, after);
  return exit.done;
}

function printText(io: Io, change: Diff, after: Targets): void {
  const share = (copies: number, of: number) =>
    of === 0 ? '-' : `${((100 * copies) / of).toFixed(2)} %`;
  io.out(
    facts(io, [
      ['keys tried', `${change.keys}, ${after.policy.replicas} replicas each`],
      ['copies that move', `${change.moved} (${share(change.moved, change.copies)})`],
      ['least for these loads', `${change.minimum} (${share(change.minimum, change.copies)})`],
      [
        'primaries that change',
        `${change.primariesMoved} (${share(change.primariesMoved, change.keys)})`,
      ],
      ['between survivors', String(change.betweenSurvivors)],
      ['copies lost for lack of targets', String(change.copiesLost)],
    ]),
  );
  if (change.domains.length > 0) {
    const rows = change.domains.map(({ path, before, after: now, left, arrived }) => {
      return [path, String(before), String(now), String(left), String(arrived)];
    });
    io.out(`\n${limited(io, ['WHERE', 'BEFORE', 'AFTER', 'LEAVES', 'ARRIVES'], rows)}`);
  }
  if (change.flows.length > 0) {
    const rows = change.flows.map(({ from, to, copies }) => [from, to, String(copies)]);
    io.out(`\n${limited(io, ['FROM', 'TO', 'COPIES'], rows)}`);
  }
}

function limited(io: Io, titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const text = table(io, titles, rows.slice(0, rowsMax));
  return rows.length <= rowsMax
    ? text
    : `${text}\n… and ${rows.length - rowsMax} more (--json has all)`;
}

export const command: Command = {
  name: 'plan',
  summary: 'What would move if the members or the topology changed.',
  usage,
  examples: [
    'carillon plan A,B,C A,B,C,D',
    'carillon plan today.yaml tomorrow.yaml --replicas 3 --sample 1000000 --json',
  ],
  run,
};
