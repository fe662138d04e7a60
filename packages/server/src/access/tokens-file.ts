/** The file that holds the tokens of a cluster: JSON, written by `carillon token`, read by every member. Pure. */
import { anyNamespace, isNamespace, namespaceRule } from '../config/namespace.ts';
import { isNumberKey, numberKeyRule } from './number-key.ts';
import { scopeNamed, scopes } from './scope.ts';
import type { Token } from './token.ts';

export const tokensMax = 10_000;
/** A file of `tokensMax` tokens with the longest names is shorter. */
const tokensBytesMax = 8 * 1024 * 1024;
/** A token is an object in a list in an object. */
const bracketDepthMax = 8;
const keyField = 'number-key';
export const tokenNameRule = '1 to 100 characters, none of them a control character';

/** A tokens file that cannot be used. The message is a sentence, and never repeats content of the file. */
export class TokensFileError extends Error {
  override readonly name = 'TokensFileError';
}

export function isTokenName(text: unknown): text is string {
  return typeof text === 'string' && /^[^\p{C}]{1,100}$/u.test(text);
}

export interface TokensFile {
  readonly tokens: readonly Token[];
  /** The key from which the numbers of timers follow; null: a file of a release without it. */
  readonly numberKey: string | null;
}

export const noTokens: TokensFile = { tokens: [], numberKey: null };

/** Throws TokensFileError. */
export function parseTokens(text: string): TokensFile {
  const json = parseJson(text) as { tokens?: unknown; [keyField]?: unknown } | null;
  const listed = json?.tokens;
  if (!Array.isArray(listed)) {
    throw new TokensFileError('The tokens file must be an object with a list "tokens".');
  }
  if (listed.length > tokensMax) {
    throw new TokensFileError(`The tokens file has more than ${tokensMax} tokens.`);
  }
  const tokens = listed.map(readToken);
  if (new Set(tokens.map(({ id }) => id)).size < tokens.length) {
    throw new TokensFileError('Two tokens of the tokens file have the same id.');
  }
  const numberKey = json?.[keyField] ?? null;
  if (numberKey !== null && !isNumberKey(numberKey)) {
    throw new TokensFileError(`The "${keyField}" of the tokens file must have ${numberKeyRule}.`);
  }
  return { tokens, numberKey };
}

export function renderTokens({ tokens, numberKey }: TokensFile): string {
  const key = numberKey === null ? {} : { [keyField]: numberKey };
  return `${JSON.stringify({ ...key, tokens }, null, 2)}\n`;
}

function parseJson(text: string): unknown {
  if (text.length > tokensBytesMax || isDeep(text)) {
    throw new TokensFileError('The tokens file is too long, or too many brackets are open.');
  }
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message is left out: it shows the text around the mistake.
    throw new TokensFileError('The tokens file is not JSON.');
  }
}

/** Looks at brackets outside of texts. */
function isDeep(text: string): boolean {
  let depth = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length && depth <= bracketDepthMax; i++) {
    const char = text[i];
    if (char === '"') isQuoted = !isQuoted;
    else if (isQuoted) i += char === '\\' ? 1 : 0;
    else if (char === '[' || char === '{') depth++;
    else if ((char === ']' || char === '}') && depth > 0) depth--;
  }
  return depth > bracketDepthMax;
}

function readToken(value: unknown, index: number): Token {
  const json = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  const { id, name, namespace, digest, created, until = null } = json;
  const scope = scopeNamed(json['scope']);
  const must = (holds: boolean, what: string): void => {
    if (!holds)
      throw new TokensFileError(`Token ${index + 1} of the tokens file must have ${what}.`);
  };
  must(isHex(id, 12), 'an "id" of 12 hex digits');
  must(isTokenName(name), `a "name" of ${tokenNameRule}`);
  must(scope !== null, `a "scope" that is one of ${scopes.join(', ')}`);
  must(
    namespace === anyNamespace || isNamespace(namespace),
    `a "namespace" that is * or has ${namespaceRule}`,
  );
  must(isHex(digest, 64), 'a "digest" of 64 hex digits');
  must(isInstant(created), 'the instant of its making as "created"');
  must(until === null || isInstant(until), 'an instant, or nothing, as "until"');
  return { id, name, scope, namespace, digest, created, until } as Token;
}

function isHex(value: unknown, length: number): boolean {
  return typeof value === 'string' && value.length === length && /^[0-9a-f]+$/.test(value);
}

function isInstant(value: unknown): boolean {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value));
}
