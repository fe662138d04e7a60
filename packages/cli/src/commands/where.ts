/** `carillon where`: which members or targets hold a key, computed here without asking any member. */
import { parseHex16, parseTimerId } from '@carillon/core';
import { algorithm, compileTargets, explain, type Key, type Step } from '@carillon/placement';
import { defaultNamespace, numberingOf } from '@carillon/server';
import { type Command, exit, type Io, UsageError } from '../command.ts';
import { readTokens } from '../member/tokens-on-disk.ts';
import { commonOptions, parseOptions } from '../options.ts';
import {
  membersOf,
  policyOptions,
  policyUsage,
  type Targets,
  topologyOf,
} from '../placement/placement-input.ts';
import { jsonLine, paint, table } from '../terminal/style.ts';

const usage = `Usage: carillon where KEY --members A,B,C [flags]
       carillon where --id HEX16 --topology FILE [flags]

Computes where a key lives: the same answer that every member with the same view gives.

  --id HEX16             The key is a 64-bit number in 16 hex digits; a whole timer id is taken too
  --namespace NAME       Of the timer with that id, if it is not default
  --tokens FILE          With --namespace: the tokens file of the members, if they use its number-key
  --members A,B,C        Flat targets, in any order
  --topology FILE        A topology in JSON or YAML
${policyUsage}
  --explain              Show every step with its candidates and scores
  --json                 One JSON object: {"replicas": […], "scores": {…}, …}`;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { flags, operands } = parseOptions(args, {
    ...commonOptions,
    ...policyOptions,
    id: 'text',
    namespace: 'text',
    tokens: 'text',
    members: 'text',
    topology: 'text',
    explain: 'flag',
  });
  const key = await keptUnder(keyOf(operands, flags.id), flags, io);
  if ((flags.members === undefined) === (flags.topology === undefined)) {
    throw new UsageError('Say who there is: either --members A,B,C or --topology FILE.');
  }
  const targets =
    flags.topology === undefined
      ? membersOf(flags.members as string, flags)
      : await topologyOf(flags.topology, flags);
  const found = targets.topology === null ? ranking(targets, key) : walk(targets, key);
  const shown = { ...found, wanted: targets.policy.replicas, complete: isComplete(found, targets) };
  if (flags.json)
    jsonLine(io, {
      key: keyText(key),
      ...shown,
      steps: undefined,
      algorithm,
      fingerprint: targets.fingerprint,
    });
  else printText(io, shown, flags.explain);
  if (shown.complete) return exit.done;
  io.err(
    `There are ${found.replicas.length} of ${targets.policy.replicas} replicas: not enough live targets.`,
  );
  return found.replicas.length === 0 ? exit.failed : exit.done;
}

interface Found {
  readonly replicas: readonly string[];
  /** Per candidate that was ranked. */
  readonly scores: Readonly<Record<string, number>>;
  readonly steps: readonly Step[];
}

function isComplete(found: Found, { policy }: Targets): boolean {
  return found.replicas.length === policy.replicas;
}

/** Flat members: all of them with their scores, and as one step for --explain. */
function ranking({ placer, policy }: Targets, key: Key): Found {
  const ranked = compileTargets(placer.names, { roles: policy.roles }).rank(key);
  const candidates = ranked.map(({ name, score }, i) => ({
    id: name,
    path: name,
    state: 'up' as const,
    weight: 1,
    score,
    share: i < policy.replicas ? 1 : 0,
  }));
  return {
    replicas: ranked.slice(0, policy.replicas).map(({ name }) => name),
    scores: Object.fromEntries(ranked.map(({ name, score }) => [name, score])),
    steps: [{ path: '', level: 'member', replicas: policy.replicas, candidates, passedOver: [] }],
  };
}

function walk({ topology, policy }: Targets, key: Key): Found {
  if (topology === null) throw new Error('A walk needs a topology.');
  const { replicas, steps } = explain(topology, key, policy);
  const scored = steps.flatMap(({ candidates }) =>
    candidates.flatMap(({ path, score }) => (score === null ? [] : [[path, score] as const])),
  );
  return { replicas, scores: Object.fromEntries(scored), steps };
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

function printText(io: Io, found: Found, everything: boolean): void {
  const rows = found.replicas.map((path, i) => [roleOf(i), path]);
  if (rows.length > 0) io.out(table(io, ['ROLE', 'TARGET'], rows));
  if (!everything) return;
  for (const step of found.steps) {
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
  summary: 'Which members or targets hold a key; needs no running member.',
  usage,
  examples: [
    'carillon where order-4711 --members a:7253,b:7253,c:7253',
    'carillon where --id 0000000000000064 --members A,B,C --replicas 3 --json',
    'carillon where account/7 --topology topology.yaml --replicas 3 --pin region=eu --explain',
  ],
  run,
};
