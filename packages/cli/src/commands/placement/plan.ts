/** `carillon plan`: the keys that would move if one set of members or topology became another. Changes nothing. */
import { type Diff, diff, diffKeysMax, evenMovement } from '@carillon/placement';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connectOptions } from '../../member/connect.ts';
import { type OptionKinds, parseOptions, wholeNumber } from '../../options.ts';
import { checked, clusterOf, type Targets, targetsOf } from '../../placement/placement-input.ts';
import { policyOptions, policyUsage } from '../../placement/policy-flags.ts';
import { poolOf, poolOptions, poolUsage } from '../../placement/pool-flags.ts';
import { changeOfPools, poolIn } from '../../placement/pool-input.ts';
import { facts, jsonFacts, table } from '../../terminal/style.ts';

/** Rows of the tables for people; --json has all. */
const rowsMax = 20;

const usage = `Usage: carillon plan BEFORE AFTER [flags]
       carillon plan AFTER --server URL [flags]

Places a sample of keys before and after. Reports how many keys move, from where to where; the least number that has to
move for the resulting loads; and the least number if every target held exactly its share before and after. BEFORE and
AFTER are both members (A,B,C or a members file) or both topology files (JSON or YAML). With --server, BEFORE is the
running cluster.

  --sample N             How many keys to try, for each account; default 100000
${policyUsage}
                         --account may be given many times: the moves of each account, and of all
${poolUsage}
  --table TABLE          With --partitions or --width: the table account/table/type, or another pool by its name,
                         whose keys move; may be given many times
  --json                 One JSON object`;

const kinds = {
  ...connectOptions,
  ...policyOptions,
  ...poolOptions,
  account: 'list',
  table: 'list',
  sample: 'text',
} as const satisfies OptionKinds;

type Flags = ReturnType<typeof parseOptions<typeof kinds>>['flags'];

async function run(args: readonly string[], io: Io): Promise<number> {
  const { flags, operands } = parseOptions(args, kinds);
  const keys = wholeNumber('--sample', flags.sample ?? '100000', { min: 1, max: diffKeysMax });
  if (operands.length !== (flags.server.length > 0 ? 1 : 2)) {
    throw new UsageError(
      'Give two operands, the present and the future topology; or the future one and --server URL.',
    );
  }
  const shaped = flags.partitions ?? flags.tree ?? flags['fan-outs'] ?? flags.zones;
  if (shaped !== undefined && flags.table.length === 0) {
    throw new UsageError('--partitions N and other flags of a pool go with --table TABLE.');
  }
  if (flags.table.length > 0) return planTables(operands, { flags, keys }, io);
  if (flags.account.length > 1) return planAccounts(operands, { flags, keys }, io);
  const [account] = flags.account;
  const { before, after } = await bothSides(operands, { ...flags, account }, io);
  const change = changeOf(before, after, keys);
  const { hot, slips } = after;
  if (flags.json) {
    const fingerprints = { before: before.fingerprint, after: after.fingerprint };
    jsonFacts(io, { ...fingerprints, algorithm: after.algorithm, ...change, hot, slips });
  } else printChange(io, change, after.policy.replicas, [...hot, ...slips]);
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
  const replicas = flags.replicas ?? String(before.policy.replicas);
  const after = await targetsOf(second, { ...flags, replicas });
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

type Totals = Pick<Change, 'copies' | 'moved' | 'minimum' | 'evenMinimum'>;
type Part = Totals & { readonly name: string };

/** The movement for each of some accounts, each with keys of its own, and for all of them together. */
async function planAccounts(
  operands: readonly string[],
  { flags, keys }: { readonly flags: Flags; readonly keys: number },
  io: Io,
): Promise<number> {
  const accounts: Part[] = [];
  for (const account of flags.account) {
    const { before, after } = await bothSides(operands, { ...flags, account }, io);
    const own = Array.from({ length: keys }, (_, i) => `${account}/${i}`);
    accounts.push({ name: account, ...totalsOf(changeOf(before, after, own)) });
  }
  tellEach(accounts, { title: 'account', json: flags.json }, io);
  return exit.done;
}

/** The movement for each of some tables, whose pools the two topologies hold, and for all of them together. */
async function planTables(
  operands: readonly string[],
  { flags, keys }: { readonly flags: Flags; readonly keys: number },
  io: Io,
): Promise<number> {
  const [before = '', after = ''] = operands;
  if (after === '') throw new UsageError('Tables are in topology files: give two of them.');
  const { account: accounts, ...rest } = flags;
  const tables: Part[] = [];
  let last: Change | null = null;
  let replicas = 0;
  for (const name of flags.table) {
    const question = poolOf({ ...rest, account: accounts[0] }, name);
    const old = await poolIn(before, question);
    const now = await poolIn(after, question);
    last = checked(after, () => changeOfPools(old, now, keys));
    replicas = question.replicas;
    tables.push({ name, ...totalsOf(last) });
  }
  if (last !== null && flags.table.length === 1) {
    if (flags.json) jsonFacts(io, { table: flags.table[0], ...last });
    else printChange(io, last, replicas);
  } else tellEach(tables, { title: 'table', json: flags.json }, io);
  return exit.done;
}

/** A row of each part, and one of all of them. */
function tellEach(
  parts: readonly Part[],
  { title, json }: { readonly title: 'account' | 'table'; readonly json: boolean },
  io: Io,
): void {
  const sum = (of: keyof Totals) => parts.reduce((total, one) => total + one[of], 0);
  const all: Totals = {
    copies: sum('copies'),
    moved: sum('moved'),
    minimum: sum('minimum'),
    evenMinimum: sum('evenMinimum'),
  };
  if (json) {
    const named = parts.map(({ name, ...totals }) => ({ [title]: name, ...totals }));
    jsonFacts(io, { [`${title}s`]: named, all });
    return;
  }
  const rows = [...parts, { name: 'all of them', ...all }].map((one) => [
    one.name,
    String(one.copies),
    ...[one.moved, one.minimum, one.evenMinimum].map((part) => share(part, one.copies)),
  ]);
  const titles = [title.toUpperCase(), 'COPIES', 'MOVE', 'LEAST', 'LEAST FOR EXACT SHARES'];
  io.out(table(io, titles, rows));
}

function totalsOf({ copies, moved, minimum, evenMinimum }: Change): Totals {
  return { copies, moved, minimum, evenMinimum };
}

function share(copies: number, of: number): string {
  return of === 0 ? '-' : `${((100 * copies) / of).toFixed(2)} %`;
}

function printChange(io: Io, change: Change, replicas: number, says: readonly string[] = []): void {
  io.out(
    facts(io, [
      ['keys tried', `${change.keys}, ${replicas} replicas each`],
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
  for (const sentence of says) io.out(sentence);
  if (change.domains.length > 0) {
    const depth = (path: string): number => path.split('/').length;
    const widest = change.domains.toSorted((a, b) => depth(a.path) - depth(b.path));
    const rows = widest.map(({ path, before, after: now, left, arrived }) => {
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
  summary: 'The keys that would move if the members or the topology changed.',
  usage,
  examples: [
    'carillon plan A,B,C A,B,C,D',
    'carillon plan members-tomorrow.yaml --server http://10.0.0.1:7253',
    'carillon plan today.yaml tomorrow.yaml --replicas 3 --sample 1000000 --json',
    'carillon plan today.yaml tomorrow.yaml --partitions 16 --zones 2 --replicas 6 --table acme/orders/row',
  ],
  run,
};
