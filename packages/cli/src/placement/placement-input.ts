/**
 * The sets of targets that `where` and `plan` ask about: members by name, a members file, a running cluster, or a
 * topology, each made ready as the members of a cluster make it ready.
 */
import { readFile, stat } from 'node:fs/promises';
import { labelSlips, sentenceOf } from '@carillon/core';
import {
  algorithm,
  buildTopology,
  compileLabelled,
  compileTargets,
  compileTopology,
  evenLoads,
  evenShares,
  type Explanation,
  explain,
  explainMembers,
  fingerprint,
  fingerprintTargets,
  hotMembers,
  type Key,
  type LabelledMember,
  labelLevels,
  levelsOf,
  partsOf,
  placementId,
  type Placer,
  PlacementError,
  type Topology,
} from '@carillon/placement';
import { MembersFileError, parseMembers } from '@carillon/server';
import { type Io, UsageError } from '../command.ts';
import { type ConnectFlags, connect } from '../member/connect.ts';
import { fileBytesMax, parseYamlText } from '../yaml-text.ts';
import { accountOf, type PolicyFlags, policyOf, type TargetPolicy } from './policy-flags.ts';

/** A set of targets to ask about. */
export interface Targets {
  readonly kind: 'members' | 'topology';
  /** The id of the rule that places keys on them. */
  readonly algorithm: string;
  readonly fingerprint: string;
  readonly placer: Placer;
  readonly policy: TargetPolicy;
  /** Each step of placing a key. */
  readonly explain: (key: Key) => Explanation;
  /** The share of all keys that each target would hold if shares were exact. */
  readonly even: ReadonlyMap<string, number>;
  /** A sentence for each member that its domain makes hot. */
  readonly hot: readonly string[];
  /** A sentence for each label whose name looks misspelt. */
  readonly slips: readonly string[];
}

/** Names with commas between, or a members file. `origin`: where the names stand on the command line. */
export async function membersOf(
  text: string,
  flags: PolicyFlags,
  origin = '--members',
): Promise<Targets> {
  if (await isFile(text)) return membersFrom(text, await readText(text), flags);
  const names = text.split(',').map((name) => ({ name: name.trim() }));
  try {
    return targetsOfMembers(names, flags, origin);
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(sentenceOf(error), { cause: error });
  }
}

export async function topologyOf(path: string, flags: PolicyFlags): Promise<Targets> {
  return topologyFrom(path, await topologyIn(path), flags);
}

/** A topology as its file has it. */
export async function topologyIn(path: string): Promise<unknown> {
  return readPlain(path, await readText(path));
}

/** The members of a running cluster that hold timers; its default factor is that of the question. */
export async function clusterOf(flags: PolicyFlags & ConnectFlags, io: Io): Promise<Targets> {
  const { members, source, defaultFactor } = await connect(flags, io).cluster({
    signal: io.signal,
  });
  const placed = members.filter(
    ({ phase, reachable }) =>
      phase === 'active' || (phase === 'joining' && source === 'static' && reachable),
  );
  const replicas = flags.replicas ?? defaultFactor?.toString();
  return targetsOfMembers(placed, { ...flags, replicas }, 'The cluster');
}

/** A file with members or with a topology when the operand looks like one or is one, else names of members. */
export async function targetsOf(operand: string, flags: PolicyFlags): Promise<Targets> {
  if (!(await isFile(operand))) return membersOf(operand, flags, `The members ${operand}`);
  const text = await readText(operand);
  const plain = readPlain(operand, text);
  const hasMembers = typeof plain === 'object' && plain !== null && 'members' in plain;
  return hasMembers ? membersFrom(operand, text, flags) : topologyFrom(operand, plain, flags);
}

/**
 * All members that a members file names take part, except leaving ones: a joining member is given timers as soon as it
 * answers.
 */
function membersFrom(path: string, text: string, flags: PolicyFlags): Targets {
  const listed = checked(path, () => parseMembers(text));
  return targetsOfMembers(
    listed.filter(({ phase }) => phase !== 'leaving'),
    flags,
    path,
  );
}

function targetsOfMembers(
  given: readonly LabelledMember[],
  flags: PolicyFlags,
  origin: string,
): Targets {
  if (flags.pin.length > 0 || flags.width.length > 0 || flags.account !== undefined) {
    throw new UsageError('--pin, --width and --account need a topology; members have no levels.');
  }
  const policy = policyOf(flags, 'chronos');
  const members = given.map(({ name, weight = 1, labels = {} }) => ({ name, weight, labels }));
  const hasLabels = levelsOf(members).length > 0;
  if (policy.roles === 'rank' && hasLabels) {
    throw new UsageError('--roles rank is for members without labels, and for topologies.');
  }
  return checked(origin, () => ({
    kind: 'members',
    algorithm: placementId(members),
    fingerprint: fingerprintTargets(members.map(({ name, weight }) => ({ name, weight }))),
    placer: hasLabels ? compileLabelled(members) : flat(members, policy),
    policy,
    explain: (key) =>
      policy.roles === 'rank'
        ? rankingOf(members, policy, key)
        : explainMembers(members, key, policy.replicas),
    even: new Map(evenShares(members, policy.replicas).map(({ name, even }) => [name, even])),
    hot: hotMembers(members, policy.replicas).map(({ says }) => says),
    slips: labelSlips(members, labelLevels),
  }));
}

function flat(members: readonly Required<LabelledMember>[], { roles }: TargetPolicy) {
  return compileTargets(
    members.map(({ name, weight }) => ({ name, weight })),
    { roles },
  );
}

/** Flat members from the highest score down: one step with all of them. */
function rankingOf(
  members: readonly Required<LabelledMember>[],
  policy: TargetPolicy,
  key: Key,
): Explanation {
  const ranked = flat(members, policy).rank(key);
  const candidates = ranked.map(({ name, score }, i) => ({
    id: name,
    path: name,
    state: 'up' as const,
    weight: members.find((member) => member.name === name)?.weight ?? 1,
    score,
    share: i < policy.replicas ? 1 : 0,
  }));
  const step = { path: '', level: 'member', replicas: policy.replicas, candidates, passedOver: [] };
  const replicas = ranked.slice(0, policy.replicas).map(({ name }) => name);
  return { replicas, wanted: policy.replicas, steps: [step] };
}

function topologyFrom(path: string, spec: unknown, flags: PolicyFlags): Targets {
  const account = accountOf(flags);
  const policy = {
    ...policyOf(flags, 'rank'),
    ...(account === null ? {} : { account }),
  };
  return checked(path, () => {
    const built = buildTopology(spec);
    const placer = compileTopology(built, policy);
    const seen: Topology = placer.topology;
    return {
      kind: 'topology',
      algorithm,
      fingerprint: fingerprint(built),
      placer,
      policy,
      explain: (key) => explain(built, key, policy),
      even: evenLoads(partsOf(seen), policy.replicas),
      hot: [],
      slips: [],
    };
  });
}

async function isFile(operand: string): Promise<boolean> {
  if (/\.(json|ya?ml)$/i.test(operand)) return true;
  return stat(operand).then(
    (found) => found.isFile(),
    () => false,
  );
}

async function readText(path: string): Promise<string> {
  try {
    const { size } = await stat(path);
    if (size <= fileBytesMax) return await readFile(path, 'utf8');
    throw new Error(`it has ${size} bytes; at most ${fileBytesMax} are read`);
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** JSON is YAML, so one reader does for both. */
function readPlain(path: string, text: string): unknown {
  try {
    return parseYamlText(text);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function unreadable(path: string, error: unknown): Error {
  const message = sentenceOf(error);
  const [sentence] = message.split('\n');
  return new Error(`The file ${path} cannot be read: ${sentence ?? message}`, { cause: error });
}

/** An error of placement or of the reader of members is a fault of the input, told with its origin. */
export function checked<T>(origin: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PlacementError || error instanceof MembersFileError)) throw error;
    const hint =
      error instanceof PlacementError && error.code === 'account_needed'
        ? ' Use --account ID.'
        : '';
    throw new Error(`${origin}: ${error.message}${hint}`, { cause: error });
  }
}
