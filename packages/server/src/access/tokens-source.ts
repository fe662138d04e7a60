/**
 * Tokens from their file, read again when told to (SIGHUP, or the file changed). Unlike other files it need not be
 * there: it may come while the member runs. The number key of the start stays for as long as the member runs: all its
 * numbers follow from it.
 */
import type { Log } from '@carillon/core';
import { readText } from '../config/read-text.ts';
import { Reloading } from '../config/reloading.ts';
import type { Token } from './token.ts';
import { noTokens, parseTokens, type TokensFile, TokensFileError } from './tokens-file.ts';

export interface TokensSourceOptions {
  readonly file: string;
  readonly log: Log;
  /** Whether the configuration names the file, so that its absence at the start is a mistake. */
  readonly named: boolean;
  /** Told of the tokens at the start, and whenever they change. */
  readonly use: (tokens: readonly Token[]) => void;
}

/** Rejects with TokensFileError. */
export async function openTokens(options: TokensSourceOptions): Promise<Reloading<TokensFile>> {
  const { file, log, named, use } = options;
  let first: TokensFile | null = null;
  const opened = await Reloading.open<TokensFile>({
    what: 'The tokens file',
    files: [file],
    read: async () => [await readTokens(file, named)],
    make: ([text = null]) => {
      const parsed = text === null ? noTokens : parseTokens(text);
      if (first !== null) compareKeys(first, parsed, options);
      first ??= parsed;
      return parsed;
    },
    log,
    changed: ({ tokens }) => use(tokens),
  });
  use(opened.value.tokens);
  return opened;
}

/** null: there is no such file, and need not be. */
async function readTokens(file: string, named: boolean): Promise<string | null> {
  try {
    return await readText(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    if (!named) return null;
    throw new TokensFileError(
      `There is no tokens file ${file}; carillon token create --tokens ${file} makes one.`,
    );
  }
}

/** Throws TokensFileError. */
function compareKeys(
  first: TokensFile,
  { numberKey }: TokensFile,
  { file, log }: TokensSourceOptions,
): void {
  if (numberKey === first.numberKey) return;
  if (first.numberKey !== null) {
    throw new TokensFileError(
      'Its "number-key" is not the one that this member started with, from which the numbers of all its timers follow: put that one back.',
    );
  }
  log.warn(
    'The tokens file has a "number-key" that it did not have at the start: it is not used. docs/security.md says how to begin to use it.',
    { event: 'number-key-unused', file },
  );
}
