/** `carillon token`: the tokens that let clients in. Works on the file that members read, not through a member. */
import { randomBytes } from 'node:crypto';
import {
  anyNamespace,
  defaultNamespace,
  isNamespace,
  isTokenName,
  namespaceRule,
  newToken,
  type Scope,
  scopeNamed,
  scopes,
  type Token,
  tokenDigest,
  tokenNameRule,
  tokensFileOf,
  tokensMax,
} from '@carillon/server';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { loadMember } from '../../member/member-config.ts';
import {
  commonOptions,
  duration,
  type OptionKinds,
  parseOptions,
  unknownAction,
} from '../../options.ts';
import { fromNow, jsonLine, paint, table } from '../../terminal/style.ts';
import { changeTokens, readTokens } from '../../member/tokens-on-disk.ts';

const kinds = {
  ...commonOptions,
  name: 'text',
  scope: 'text',
  namespace: 'text',
  expires: 'text',
  tokens: 'text',
  data: 'text',
  config: 'text',
} as const satisfies OptionKinds;

const lastsMsMax = 36_500 * 86_400_000;

type Flags = ReturnType<typeof parseOptions<typeof kinds>>['flags'];

export const command: Command = {
  name: 'token',
  summary: 'Make, list and revoke the tokens that let clients in.',
  usage: `Usage: carillon token create --name NAME --scope read|write|admin [--namespace NAMESPACE] [--expires 90d]
       carillon token list
       carillon token revoke ID...

create   Prints a new token, once: only a digest of it is kept. Two tokens may have the same name, so that clients can
         change to the new one before the old one is revoked.
list     Name, scope and namespace of each token, never the token itself.
revoke   By the id that list shows. Members notice within a second or two.

  --name NAME            The person or program that will use the token
  --scope SCOPE          read: look at timers and members. write: also set, replace, cancel, redeliver.
                         admin: also drain and resync members
  --namespace NAMESPACE  The one namespace that the token opens, or * for all. Default: default; for an admin *
  --expires DURATION     The token ends after this time; without it, when it is revoked
  --tokens FILE          Where the tokens are. Default: as members find them with the same flags and environment
  --data DIR, --config FILE  As of carillon serve
  --json                 One JSON object a line`,
  values: { '--scope': scopes },
  examples: [
    'carillon token create --name billing --scope write --namespace billing --expires 90d',
    'carillon token list --data /var/lib/carillon',
    'carillon token revoke 5f0c9a3be214',
  ],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const [action, ...ids] = operands;
    const file = fileOf(flags, io);
    const tokensOf = (): Promise<readonly Token[]> => tokensIn(file, flags.tokens !== undefined);
    if (action === 'revoke' && ids.length > 0) {
      return revoke({ file, there: await tokensOf(), ids }, flags.json, io);
    }
    if (action === 'revoke') throw new UsageError('Name the tokens to revoke by their id.');
    if (action !== 'create' && action !== 'list') {
      throw unknownAction(action, ['create', 'list', 'revoke']);
    }
    if (ids.length > 0) throw new UsageError(`"${ids[0]}" is too much here.`);
    return action === 'create'
      ? create(file, flags, io)
      : list({ file, there: await tokensOf() }, flags.json, io);
  },
};

/** Members make no tokens by themselves, so a file where they look may be missing; a file that was named may not. */
async function tokensIn(file: string, named: boolean): Promise<readonly Token[]> {
  const found = await readTokens(file);
  if (found !== null || !named) return found?.tokens ?? [];
  throw new UsageError(`There is no file ${file}; carillon token create makes it.`);
}

/** Where members with these flags look for tokens. */
function fileOf({ tokens, data, config }: Flags, io: Io): string {
  const loaded = loadMember(
    {
      ...(tokens !== undefined && { 'auth-tokens': tokens }),
      ...(data !== undefined && { data }),
      ...(config !== undefined && { config }),
    },
    io,
  );
  if (!loaded.ok) throw new UsageError(loaded.problems.join(' '));
  return tokensFileOf(loaded.config);
}

async function create(file: string, flags: Flags, io: Io): Promise<number> {
  const { name, scope, namespace } = asked(flags);
  const nowMs = Date.now();
  const lastsMs = flags.expires === undefined ? null : lasting(flags.expires);
  const { id, text } = newToken(randomBytes);
  const token: Token = {
    id,
    name,
    scope,
    namespace,
    digest: tokenDigest(text),
    created: new Date(nowMs).toISOString(),
    until: lastsMs === null ? null : new Date(nowMs + lastsMs).toISOString(),
  };
  await changeTokens(file, (tokens) => {
    if (tokens.length < tokensMax) return [...tokens, token];
    throw new Error(`${file} has ${tokensMax} tokens, as many as it may; revoke some.`);
  });
  if (flags.json) jsonLine(io, { ...shown(token), token: text, file });
  else {
    io.out(text);
    io.err(`Token ${id} for ${name} is in ${file}. This is the only time it is shown.`);
  }
  return exit.done;
}

/** Throws UsageError. */
function lasting(text: string): number {
  const ms = duration('--expires', text, '30m, 12h or 90d');
  if (ms > 0 && ms <= lastsMsMax) return ms;
  throw new UsageError('--expires must be more than nothing and no more than 36500d.');
}

/** Throws UsageError. */
function asked(flags: Flags): { name: string; scope: Scope; namespace: string } {
  const { name } = flags;
  if (!isTokenName(name)) {
    throw new UsageError(`Name the user of the token: --name NAME, ${tokenNameRule}.`);
  }
  const scope = scopeNamed(flags.scope);
  if (scope === null) {
    throw new UsageError(`Name its scope: --scope with one of ${scopes.join(', ')}.`);
  }
  const namespace = flags.namespace ?? (scope === 'admin' ? anyNamespace : defaultNamespace);
  if (namespace !== anyNamespace && !isNamespace(namespace)) {
    throw new UsageError(`--namespace must be *, or have ${namespaceRule}.`);
  }
  return { name, scope, namespace };
}

interface Kept {
  readonly file: string;
  readonly there: readonly Token[];
}

function list({ file, there }: Kept, asJson: boolean, io: Io): number {
  if (asJson) for (const token of there) jsonLine(io, shown(token));
  else if (there.length === 0) io.err(`There are no tokens in ${file}.`);
  else io.out(table(io, ['ID', 'NAME', 'SCOPE', 'NAMESPACE', 'CREATED', 'EXPIRES'], rows(there)));
  return exit.done;
}

function rows(tokens: readonly Token[]): string[][] {
  const nowMs = Date.now();
  return tokens.map(({ id, name, scope, namespace, created, until }) => [
    id,
    name,
    scope,
    namespace,
    fromNow(new Date(created), nowMs),
    until === null ? 'never' : fromNow(new Date(until), nowMs),
  ]);
}

/** A token without its digest, which only members need. */
function shown({ id, name, scope, namespace, created, until }: Token): Omit<Token, 'digest'> {
  return { id, name, scope, namespace, created, until };
}

interface Revoked extends Kept {
  readonly ids: readonly string[];
}

async function revoke({ file, there, ids }: Revoked, asJson: boolean, io: Io): Promise<number> {
  const found = new Set(there.map(({ id }) => id).filter((id) => ids.includes(id)));
  // Nothing to take out: neither the file nor its folder comes to be.
  if (found.size > 0) {
    await changeTokens(file, (tokens) => tokens.filter(({ id }) => !found.has(id)));
  }
  for (const id of ids) {
    if (asJson) jsonLine(io, { id, found: found.has(id) });
    else if (found.has(id)) io.out(`${id} revoked.`);
    else io.err(paint(io, 'red', `No token in ${file} has the id ${id}.`));
  }
  return found.size === new Set(ids).size ? exit.done : exit.failed;
}
