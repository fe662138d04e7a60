/** `carillon where`: which members or targets hold a key, computed here without asking any member. */
import { parseHex16, parseTimerId } from '@carillon/core';
import { type Explanation, explainTable, type Key, locateIn, type Step } from '@carillon/placement';
import { defaultNamespace, numberingOf } from '@carillon/server';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { readTokens } from '../../member/tokens-on-disk.ts';
import { connectOptions } from '../../member/connect.ts';
import { parseOptions } from '../../options.ts';
import {
  clusterOf,
  membersOf,
  tableIn,
  type Targets,
  topologyOf,
} from '../../placement/placement-input.ts';
import {
  type PoolFlags,
  policyOf,
  policyOptions,
  policyUsage,
  poolOptions,
  poolUsage,
} from '../../placement/policy-flags.ts';
import { jsonLine, paint, table, withApiNames } from '../../terminal/style.ts';

const usage = `Usage: carillon where KEY --members A,B,C [flags]
       carillon where --id HEX16 --members FILE [flags]
       carillon where --id HEX16 --server URL [flags]
       carillon where KEY --topology FILE [flags]

Computes where a key lives: the same answer that every member with the same view gives.

  --id HEX16             The key is a 64-bit number in 16 hex digits; a whole timer id is taken too
  --namespace NAME       Of the timer with that id, if it is not default
  --tokens FILE          With --namespace: the tokens file of the members, if they use its number-key
  --members A,B,C        Members without labels, in any order
  --members FILE         A members file: members with labels are placed by them
  --server URL           The members of a running cluster; --token and --token-file as for other commands
  --topology FILE        A topology in JSON or YAML
${policyUsage}
${poolUsage}
  --explain              Show every step with its candidates and scores
  --json                 One JSON object: {"replicas": […], "scores": {…}, …}`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { flags, operands } = parseOptions(args, {
    ...connectOptions,
    ...policyOptions,
    ...poolOptions,
    id: 'text',
    tokens: 'text',
    members: 'text',
    topology: 'text',
    explain: 'flag',
  });
  const key = await keptUnder(keyOf(operands, flags.id), flags, io);
  if (flags.partitions !== undefined) return inPool(key, flags, io);
  const targets = await targetsFor(flags, io);
  const found = targets.explain(key);
  for (const says of targets.slips) io.err(says);
  const complete = found.replicas.length === found.wanted;
  if (flags.json) {
    const { replicas, wanted, steps } = found;
    const { algorithm, fingerprint } = targets;
    const scores = scoresOf(steps);
    jsonLine(io, { key: keyText(key), replicas, scores, wanted, complete, algorithm, fingerprint });
  } else printText(io, found, flags.explain);
  if (complete) return exit.done;
  io.err(
    `There are ${found.replicas.length} of ${found.wanted} replicas: not enough live targets.`,
  );
  return found.replicas.length === 0 ? exit.failed : exit.done;
}

type Flags = Parameters<typeof clusterOf>[0] & {
  readonly members: string | undefined;
  readonly topology: string | undefined;
};

/** A key in the pool of its table: the id per level and the index per slot level of each replica. */
async function inPool(
  key: Key,
  flags: Flags & PoolFlags & { readonly json: boolean; readonly explain: boolean },
  io: Io,
): Promise<number> {
  const text = typeof key === 'string' ? key : '';
  const parts = text.split('/');
  if (parts.length < 4 || flags.topology === undefined) {
    throw new UsageError('--partitions needs --topology FILE and a KEY account/table/type/key.');
  }
  const tree = await tableIn(flags.topology, parts.slice(0, 3).join('/'), flags);
  const wanted = policyOf(flags, 'rank').replicas;
  const replicas = locateIn(tree, text, wanted);
  const { steps } = explainTable(tree, text, wanted);
  if (flags.json)
    jsonLine(io, { key: text, replicas, ...(flags.explain ? { steps: withApiNames(steps) } : {}) });
  else {
    const titles = Object.keys(replicas[0]?.at ?? {}).map((name) => name.toUpperCase());
    const rows = replicas.map(({ at }, i) => [roleOf(i), ...Object.values(at).map(String)]);
    io.out(table(io, ['ROLE', ...titles], rows));
    if (flags.explain) printSteps(io, steps);
  }
  return exit.done;
}

function targetsFor(flags: Flags, io: Io): Promise<Targets> {
  const { members, topology, server } = flags;
  const given = [members, topology, server[0]].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw new UsageError(
      'Name the members in one way: --members A,B,C, --members FILE, --server URL or --topology FILE.',
    );
  }
  if (members !== undefined) return membersOf(members, flags);
  return topology === undefined ? clusterOf(flags, io) : topologyOf(topology, flags);
}

/** The scores of all candidates that were ranked. */
function scoresOf(steps: readonly Step[]): Record<string, number> {
  const scored = steps.flatMap(({ candidates }) =>
    candidates.flatMap(({ path, score }) => (score === null ? [] : [[path, score] as const])),
  );
  return Object.fromEntries(scored);
}

function keyOf(operands: readonly string[], id: string | undefined): Key {
  const [key, extra] = operands;
  if (extra !== undefined) throw new UsageError('Give one key; put it in quotes if it has blanks.');
  if ((key === undefined) === (id === undefined)) {
    throw new UsageError('Give either a KEY or --id HEX16.');
  }
  if (key !== undefined) return key;
  const number =
    parseHex16((id as string).toLowerCase()) ?? parseTimerId((id as string).toLowerCase());
  if (number === null) {
    throw new UsageError(`--id must be 16 hex digits or a timer id, not "${id}".`);
  }
  return { hi: number.hi, lo: number.lo };
}

interface Of {
  readonly namespace: string | undefined;
  readonly tokens: string | undefined;
}

/** A number that clients of a namespace see, as the members place it. */
async function keptUnder(
  key: Key,
  { namespace = defaultNamespace, tokens }: Of,
  io: Io,
): Promise<Key> {
  if (typeof key !== 'object' || namespace === defaultNamespace) return key;
  if (tokens === undefined) {
    io.err(
      'This is how members without a number-key place it; if they use one, add --tokens FILE.',
    );
    return numberingOf(null).inside(namespace, key);
  }
  const found = await readTokens(tokens);
  if (found === null) throw new UsageError(`There is no tokens file ${tokens}.`);
  return numberingOf(found.numberKey).inside(namespace, key);
}

function keyText(key: Key): string {
  if (typeof key === 'string') return key;
  if (typeof key === 'bigint') return key.toString(16).padStart(16, '0');
  return key.hi.toString(16).padStart(8, '0') + key.lo.toString(16).padStart(8, '0');
}

function printText(io: Io, found: Explanation, everything: boolean): void {
  const rows = found.replicas.map((path, i) => [roleOf(i), path]);
  if (rows.length > 0) io.out(table(io, ['ROLE', 'TARGET'], rows));
  if (everything) printSteps(io, found.steps);
}

function printSteps(io: Io, steps: readonly Step[]): void {
  for (const step of steps) {
    const place = step.path === '' ? 'at the top' : `below ${step.path}`;
    io.out(`\n${paint(io, 'bold', `${step.level} ${place}, replicas: ${step.replicas}`)}`);
    const candidates = step.candidates.map(({ id, state, weight, score, share }) => [
      id,
      state,
      String(weight),
      score === null ? 'not ranked' : String(score),
      share === 0 ? '' : String(share),
    ]);
    io.out(table(io, ['CANDIDATE', 'STATE', 'WEIGHT', 'SCORE', 'REPLICAS'], candidates));
    for (const { id, reason } of step.passedOver) io.out(paint(io, 'dim', `${id}: ${reason}`));
  }
}

function roleOf(position: number): string {
  return position === 0 ? 'primary' : `backup ${position}`;
}

export const command: Command = {
  name: 'where',
  summary: 'Which members or targets hold a key; no timer is asked for.',
  usage,
  examples: [
    'carillon where order-4711 --members a:7253,b:7253,c:7253',
    'carillon where --id 0000000000000064 --members A,B,C --replicas 3 --json',
    'carillon where --id 00000000000000640000204080102040-2 --members members.yaml --explain',
    'carillon where account/7 --topology topology.yaml --replicas 3 --pin region=eu --explain',
    'carillon where acme/orders/row/4711 --topology topology.yaml --partitions 16 --replicas 6 --explain',
  ],
  run,
};
