/** `carillon where`: which members or targets hold a key, computed here without asking any member. */
import { parseHex16, parseTimerId } from '@carillon/core';
import { type Explanation, type Key, poolUnder, type Step } from '@carillon/placement';
import { defaultNamespace, numberingOf } from '@carillon/server';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { readTokens } from '../../member/tokens-on-disk.ts';
import { connectOptions } from '../../member/connect.ts';
import { parseOptions } from '../../options.ts';
import { clusterOf, membersOf, type Targets, topologyOf } from '../../placement/placement-input.ts';
import { policyOptions, policyUsage } from '../../placement/policy-flags.ts';
import { type PoolFlags, poolOf, poolOptions, poolUsage } from '../../placement/pool-flags.ts';
import { placesIn, poolIn, type PoolReady, stepsIn } from '../../placement/pool-input.ts';
import { jsonLine, paint, table, withApiNames } from '../../terminal/style.ts';

const usage = `Usage: carillon where KEY --members A,B,C [flags]
       carillon where --id HEX16 --members FILE [flags]
       carillon where --id HEX16 --server URL [flags]
       carillon where KEY --topology FILE [flags]
       carillon where --slots --pool TABLE --topology FILE --partitions N [flags]

Computes where a key lives: the same answer that every member with the same view gives.

  --id HEX16             The key is a 64-bit number in 16 hex digits; a whole timer id is taken too
  --namespace NAME       With --id: the namespace of the timer, if it is not default
  --tokens FILE          With --namespace: the tokens file of the members, if they use its number-key
  --members A,B,C        Members without labels, in any order
  --members FILE         A members file: members with labels are placed by them
  --server URL           The members of a running cluster; --token and --token-file as for other commands
  --topology FILE        A topology in JSON or YAML
${policyUsage}
${poolUsage}
  --pool NAME            The pool to look in; default: the first three parts of KEY, account/table/type
  --slots                All slots of the pool: coordinates, the target that ranks there, and the one that serves
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
    pool: 'text',
    slots: 'flag',
    explain: 'flag',
  });
  if (flags.slots) return listSlots(operands, flags, io);
  const key = await keptUnder(keyOf(operands, flags.id), flags, io);
  if ((flags.partitions ?? flags.pool ?? flags.tree) !== undefined) return inPool(key, flags, io);
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

type PooledFlags = Flags &
  PoolFlags & {
    readonly pool: string | undefined;
    readonly json: boolean;
    readonly explain: boolean;
  };

/** A key in a pool, by default that of its table: the id per level and the index per slot level of each replica. */
async function inPool(key: Key, flags: PooledFlags, io: Io): Promise<number> {
  const text = typeof key === 'string' ? key : '';
  const parts = text.split('/');
  const name = flags.pool ?? (parts.length < 4 ? '' : parts.slice(0, 3).join('/'));
  if (text === '' || name === '') {
    throw new UsageError(
      '--partitions needs --topology FILE and a KEY account/table/type/key, or any KEY and --pool NAME.',
    );
  }
  const ready = await poolNamed(name, flags);
  const replicas = placesIn(ready, text);
  const steps = stepsIn(ready, text);
  if (flags.json) {
    const shown = flags.explain ? { steps: withApiNames(steps) } : {};
    jsonLine(io, { key: text, pool: name, tree: ready.question.tree, replicas, ...shown });
    return exit.done;
  }
  const titles = Object.keys(replicas[0]?.at ?? {}).map((level) => level.toUpperCase());
  const rows = replicas.map(({ at }, i) => [roleOf(i), ...Object.values(at).map(String)]);
  io.out(table(io, ['ROLE', ...titles], rows));
  if (flags.explain) {
    printSteps(io, steps);
    io.out(`\n${steps.length} steps: a step is one round of ranking.`);
  }
  return exit.done;
}

function poolNamed(name: string, flags: PooledFlags): Promise<PoolReady> {
  if (flags.topology === undefined)
    throw new UsageError('--partitions needs --topology FILE, and so does any other pool.');
  return poolIn(flags.topology, poolOf(flags, name));
}

/** Every slot of a pool with its coordinates, the target that ranks there and the one that serves. */
async function listSlots(
  operands: readonly string[],
  flags: PooledFlags & { readonly id: string | undefined },
  io: Io,
): Promise<number> {
  if (operands.length > 0 || flags.id !== undefined || flags.pool === undefined) {
    throw new UsageError('--slots lists a pool: give --pool NAME, and no KEY.');
  }
  const pool = poolUnder((await poolNamed(flags.pool, flags)).tree);
  const slots = pool.slots();
  if (flags.json) {
    const width = pool.width.map((one) => (Number.isFinite(one) ? one : null));
    jsonLine(io, { pool: flags.pool, width, slots });
    return exit.done;
  }
  const rows = slots.map(({ coordinates, owner, path }) => [
    coordinates.join('.'),
    owner,
    path === owner ? '' : (path ?? 'no target is left'),
  ]);
  io.out(table(io, ['SLOT', 'TARGET', 'SERVED BY'], rows));
  io.out(`${slots.length} slots`);
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
  summary: 'The members or targets that hold a key; computed, without asking for a timer.',
  usage,
  examples: [
    'carillon where order-4711 --members a:7253,b:7253,c:7253',
    'carillon where --id 0000000000000064 --members A,B,C --replicas 3 --json',
    'carillon where --id 00000000000000640000204080102040-2 --members members.yaml --explain',
    'carillon where account/7 --topology topology.yaml --replicas 3 --pin region=eu --explain',
    'carillon where acme/orders/row/4711 --topology topology.yaml --partitions 16 --replicas 6 --explain',
    'carillon where --slots --pool acme/orders/row --topology topology.yaml --width node=16 --width disk=3',
  ],
  run,
};
