/** The flags of `where` and `plan` that say how replicas spread, and for which account. */
import { type Account, type Policy, replicasMax, type Roles } from '@carillon/placement';
import { UsageError } from '../command.ts';
import { type OptionKinds, wholeNumber } from '../options.ts';

export const policyOptions = {
  replicas: 'text',
  roles: 'text',
  pin: 'list',
  width: 'list',
  account: 'text',
  'created-under': 'text',
} as const satisfies OptionKinds;

export const policyUsage = `  --replicas N           How many replicas a key has; default 2, with --server the default factor of the cluster
  --roles ROLES          chronos: lowest score first, then from the highest down (default for members)
                         rank: from the highest score down (default for topologies)
  --pin LEVEL=ID         With a topology: use only this vertex of a level; may be given many times
  --width LEVEL=N        With a topology: spread over at most N children of one parent; many times
  --account ID           With a topology: the account that asks; needed while a rollout is below 1
  --created-under EXPANSION
                         With --account: the newest expansion when the account was created`;

export interface PolicyFlags {
  readonly replicas: string | undefined;
  readonly roles: string | undefined;
  readonly pin: readonly string[];
  readonly width: readonly string[];
  readonly account: string | undefined;
  readonly 'created-under': string | undefined;
}

export type TargetPolicy = Policy & { readonly replicas: number; readonly roles: Roles };

export function policyOf(flags: PolicyFlags, roles: Roles): TargetPolicy {
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

/** null: none is named. */
export function accountOf(flags: PolicyFlags): Account | null {
  const { account: id, 'created-under': createdUnder } = flags;
  if (id === undefined) {
    if (createdUnder === undefined) return null;
    throw new UsageError('--created-under goes with --account ID.');
  }
  return { id, ...(createdUnder === undefined ? {} : { createdUnder }) };
}

function pairs(flag: string, texts: readonly string[]): (readonly [string, string])[] {
  return texts.map((text) => {
    const at = text.indexOf('=');
    if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)] as const;
    throw new UsageError(`${flag} must be LEVEL=VALUE, not "${text}".`);
  });
}
