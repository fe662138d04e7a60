/** Who may do what at a real member: the tokens from their file, kept up to date, and the rule for starting without any. */
import { unwatchFile, watchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, Log } from '@carillon/core';
import type { Config } from '../config.ts';
import { Access } from './access.ts';
import { rateOf } from './rate-limit.ts';
import { checkStart } from './start-rule.ts';
import { TokensSource } from './tokens-source.ts';

export interface OpenAccessOptions {
  readonly config: Config;
  /** `host:port` of every public listener. */
  readonly listens: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenAccess {
  readonly access: Access;
  /** Reads the tokens again. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/** The file is looked at this often. By looking, not by watching its folder: that one has the journal in it, which never rests. */
const lookMs = 1000;

export function tokensFileOf(config: Pick<Config, 'auth' | 'data'>): string {
  return config.auth.tokens ?? join(config.data, 'tokens.json');
}

/** Throws TokensFileError, or StartError where the member must not be open. */
export async function openAccess(options: OpenAccessOptions): Promise<OpenAccess> {
  const { config, listens, clock, log } = options;
  const { insecureNoAuth } = config.auth;
  const file = tokensFileOf(config);
  const access = new Access({ clock, rate: rateOf(config.limits) });
  const source = new TokensSource({
    file,
    log,
    named: config.auth.tokens !== null,
    read: () => readIfThere(file),
    use: (tokens) => access.use(tokens),
  });
  const count = await source.start();
  checkStart({ listens, hasTokens: count > 0, insecureNoAuth, tokensFile: file });
  if (count === 0 && insecureNoAuth) {
    log.warn('Nobody is asked for a token: whoever reaches this member may do everything.');
  }
  const look = (): void => void source.reload();
  watchFile(file, { interval: lookMs, persistent: false }, look);
  return { access, reload: () => source.reload(), close: () => unwatchFile(file, look) };
}

async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
