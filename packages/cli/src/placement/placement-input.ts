/** What `where` and `plan` read: members on the command line, topologies from files, and the policy flags. */
import { readFile, stat } from 'node:fs/promises';
import {
  buildTopology,
  compileTargets,
  compileTopology,
  fingerprint,
  fingerprintTargets,
  type Placer,
  PlacementError,
  type Policy,
  replicasMax,
  type Roles,
  type Topology,
} from '@carillon/placement';
import { parse as parseYaml } from 'yaml';
import { UsageError } from '../command.ts';
import { type OptionKinds, wholeNumber } from '../options.ts';

/** Larger files are refused before they are read. */
const fileBytesMax = 64 * 1024 * 1024;

export const policyOptions = {
  replicas: 'text',
  roles: 'text',
  pin: 'list',
  width: 'list',
} as const satisfies OptionKinds;

export const policyUsage = `  --replicas N           How many replicas a key has; default 2
  --roles ROLES          chronos: lowest score first, then from the highest down (default for members)
                         rank: from the highest score down (default for topologies)
  --pin LEVEL=ID         With a topology: use only this vertex of a level; may be given many times
  --width LEVEL=N        With a topology: spread over at most N children of one parent; many times`;

export interface PolicyFlags {
  readonly replicas: string | undefined;
  readonly roles: string | undefined;
  readonly pin: readonly string[];
  readonly width: readonly string[];
}

/** A set of targets to ask about: flat members, or a topology. */
export interface Targets {
  readonly placer: Placer;
  readonly fingerprint: string;
  /** null for flat members. */
  readonly topology: Topology | null;
  readonly policy: Policy & { readonly replicas: number; readonly roles: Roles };
}

export function membersOf(text: string, flags: PolicyFlags): Targets {
  if (flags.pin.length > 0 || flags.width.length > 0) {
    throw new UsageError('--pin and --width need a topology; members have no levels.');
  }
  const names = text.split(',').map((name) => name.trim());
  const policy = policyOf(flags, 'chronos');
  return checked('--members', () => ({
    placer: compileTargets(names, { roles: policy.roles }),
    fingerprint: fingerprintTargets(names),
    topology: null,
    policy,
  }));
}

export async function topologyOf(path: string, flags: PolicyFlags): Promise<Targets> {
  const policy = policyOf(flags, 'rank');
  const spec = await readPlain(path);
  return checked(path, () => {
    const topology = buildTopology(spec);
    const placer = compileTopology(topology, policy);
    return { placer, fingerprint: fingerprint(topology), topology, policy };
  });
}

/** A topology file when the operand looks like one or is one, else members. */
export async function targetsOf(operand: string, flags: PolicyFlags): Promise<Targets> {
  const isFile = /\.(json|ya?ml)$/i.test(operand) || (await exists(operand));
  return isFile ? topologyOf(operand, flags) : membersOf(operand, flags);
}

/** JSON is YAML, so one reader does for both. */
async function readPlain(path: string): Promise<unknown> {
  try {
    const { size } = await stat(path);
    if (size > fileBytesMax)
      throw new Error(`it has ${size} bytes; at most ${fileBytesMax} are read`);
    return parseYaml(await readFile(path, 'utf8'));
  } catch (error) {
    throw new Error(`The topology file ${path} cannot be read: ${sentenceOf(error)}`, {
      cause: error,
    });
  }
}

function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n')[0] ?? message;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** What placement refuses is a failure of the input, told with its origin. */
function checked(origin: string, make: () => Targets): Targets {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof PlacementError)) throw error;
    throw new Error(`${origin}: ${error.message}`, { cause: error });
  }
}

function policyOf(flags: PolicyFlags, roles: Roles): Targets['policy'] {
  const asked = flags.roles ?? roles;
  if (asked !== 'chronos' && asked !== 'rank') {
    throw new UsageError(`--roles must be chronos or rank, not "${asked}".`);
  }
  const width = pairs('--width', flags.width).map(
    ([level, text]) =>
      [level, wholeNumber(`--width ${level}`, text, { min: 1, max: 65_535 })] as const,
  );
  return {
    replicas: wholeNumber('--replicas', flags.replicas ?? '2', { min: 1, max: replicasMax }),
    roles: asked,
    ...(flags.pin.length > 0 ? { pin: Object.fromEntries(pairs('--pin', flags.pin)) } : {}),
    ...(width.length > 0 ? { width: Object.fromEntries(width) } : {}),
  };
}

function pairs(flag: string, texts: readonly string[]): (readonly [string, string])[] {
  return texts.map((text) => {
    const at = text.indexOf('=');
    if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)] as const;
    throw new UsageError(`${flag} must be LEVEL=VALUE, not "${text}".`);
  });
}
