/** `carillon plan`: the keys that would move if one set of members or topology became another. Changes nothing. */
import { type Diff, diff, diffKeysMax, evenMovement } from '@carillon/placement';
import { type Command, exit, type Io, UsageError } from '../command.ts';
import { connectOptions } from '../member/connect.ts';
import { type OptionKinds, parseOptions, wholeNumber } from '../options.ts';
import { clusterOf, type Targets, targetsOf } from '../placement/placement-input.ts';
import { policyOptions, policyUsage } from '../placement/policy-flags.ts';
import { facts, jsonLine, table } from '../terminal/style.ts';

/** Rows of the tables for people; --json has all. */
const rowsMax = 20;

const usage = `Usage: carillon plan BEFORE AFTER [flags]
       carillon plan AFTER --server URL [flags]

Places a sample of keys before and after, and reports what moves, from where to where, the least that has to move for
the resulting loads, and the least that has to move if every target held exactly its share before and after. BEFORE and AFTER
are both members (A,B,C or a members file) or both topology files (JSON or YAML). With --server, BEFORE is the running cluster.

  --sample N             How many keys to try, for each account; default 100000
${policyUsage}
                         --account may be given many times: what moves for each of them and in all
  --json                 One JSON object`;

const kinds = {
  ...connectOptions,
  ...policyOptions,
  account: 'list',
  sample: 'text',
} as const satisfies OptionKinds;

type Flags = ReturnType<typeof parseOptions<typeof kinds>>['flags'];

async function run(args: readonly string[], io: Io): Promise<number> {
  const { flags, operands } = parseOptions(args, kinds);
  const keys = wholeNumber('--sample', flags.sample ?? '100000', { min: 1, max: diffKeysMax });
  if (operands.length !== (flags.server.length > 0 ? 1 : 2)) {
    throw new UsageError(
      'Give two operands, what there is and what there will be; or one and --server URL.',
    );
  }
  if (flags.account.length > 1) return planAccounts(operands, { flags, keys }, io);
  const [account] = flags.account;
  const { before, after } = await bothSides(operands, { ...flags, account }, io);
  const change = changeOf(before, after, keys);
  const { hot } = after;
  if (flags.json) {
    const fingerprints = { before: before.fingerprint, after: after.fingerprint };
    jsonLine(io, { ...fingerprints, algorithm: after.algorithm, ...change, hot });
  } else printText(io, change, after);
  return exit.done;
}

async function bothSides(
  operands: readonly string[],
  flags: Omit<Flags, 'account'> & { readonly account: string | undefined },
  io: Io,
): Promise<{ before: Targets; after: Targets }> {
  const [first = '', second = first] = operands;
  const running = flags.server.length > 0;
  const before = running ? await clusterOf(flags, io) : await targetsOf(first, flags);
  const after = await targetsOf(second, flags);
  if (before.kind === after.kind) return { before, after };
  throw new UsageError('BEFORE and AFTER must both be members or both be topology files.');
}

interface Change extends Diff {
  /** The least that moves between exact shares before and after. */
  readonly evenMinimum: number;
}

function changeOf(before: Targets, after: Targets, keys: number | readonly string[]): Change {
  const change = diff(before.placer, after.placer, { keys, replicas: after.policy.replicas });
  const evenMinimum = Math.round(evenMovement(before.even, after.even) * change.keys);
  return { ...change, evenMinimum };
}

type AccountChange = Pick<Change, 'copies' | 'moved' | 'minimum' | 'evenMinimum'> & {
  readonly account: string;
};

/** The movement for each of some accounts, each with keys of its own, and for all of them together. */
async function planAccounts(
  operands: readonly string[],
  { flags, keys }: { readonly flags: Flags; readonly keys: number },
  io: Io,
): Promise<number> {
  const accounts: AccountChange[] = [];
  for (const account of flags.account) {
    const { before, after } = await bothSides(operands, { ...flags, account }, io);
    const own = Array.from({ length: keys }, (_, i) => `${account}/${i}`);
    const { copies, moved, minimum, evenMinimum } = changeOf(before, after, own);
    accounts.push({ account, copies, moved, minimum, evenMinimum });
  }
  const sum = (of: Exclude<keyof AccountChange, 'account'>) =>
    accounts.reduce((total, one) => total + one[of], 0);
  const all = {
    copies: sum('copies'),
    moved: sum('moved'),
    minimum: sum('minimum'),
    evenMinimum: sum('evenMinimum'),
  };
  if (flags.json) jsonLine(io, { accounts, all });
  else {
    const rows = [...accounts, { account: 'all of them', ...all }].map((one) => [
      one.account,
      String(one.copies),
      ...[one.moved, one.minimum, one.evenMinimum].map((part) => share(part, one.copies)),
    ]);
    io.out(table(io, ['ACCOUNT', 'COPIES', 'MOVE', 'LEAST', 'LEAST FOR EXACT SHARES'], rows));
  }
  return exit.done;
}

function share(copies: number, of: number): string {
  return of === 0 ? '-' : `${((100 * copies) / of).toFixed(2)} %`;
}

function printText(io: Io, change: Change, after: Targets): void {
  io.out(
    facts(io, [
      ['keys tried', `${change.keys}, ${after.policy.replicas} replicas each`],
      ['copies that move', `${change.moved} (${share(change.moved, change.copies)})`],
      ['least for these loads', `${change.minimum} (${share(change.minimum, change.copies)})`],
      [
        'least for exact shares',
        `${change.evenMinimum} (${share(change.evenMinimum, change.copies)})`,
      ],
      [
        'primaries that change',
        `${change.primariesMoved} (${share(change.primariesMoved, change.keys)})`,
      ],
      ['between survivors', String(change.betweenSurvivors)],
      ['copies lost for lack of targets', String(change.copiesLost)],
    ]),
  );
  for (const says of after.hot) io.out(says);
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
    'carillon plan members-tomorrow.yaml --server http://10.0.0.1:7253',
    'carillon plan today.yaml tomorrow.yaml --replicas 3 --sample 1000000 --json',
  ],
  run,
};
