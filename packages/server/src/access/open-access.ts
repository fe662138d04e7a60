/**
 * Authentication of clients at a real member: the tokens from their file, kept up to date, and the rule for starting
 * without any.
 */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Cancel, type Clock, type Log, nextRoundMs, type Numbering } from '@carillon/core';
import type { Config } from '../config/config.ts';
import { anyNamespace } from '../config/namespace.ts';
import { NamespaceRates } from './namespace-rates.ts';
import type { QuotaTable } from '../quotas/quota-table.ts';
import { Access } from './access.ts';
import { numberingOf } from './number-key.ts';
import { rateOf } from './rate-limit.ts';
import { checkStart } from './start-rule.ts';
import type { TokensFile } from './tokens-file.ts';
import { openTokens } from './tokens-source.ts';

export interface OpenAccessOptions {
  readonly config: Config;
  /** `host:port` of every public listener. */
  readonly listens: readonly string[];
  readonly quotas: QuotaTable;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenAccess {
  readonly access: Access;
  /** By the key in the tokens file. */
  readonly numbering: Numbering;
  /** Reads the tokens again. */
  readonly reload: () => Promise<void>;
  readonly close: () => void;
}

/**
 * The file is looked at this often. By looking, not by watching its folder: that one has the journal in it, which never
 * rests.
 */
const lookMs = 2000;

export function tokensFileOf(config: Pick<Config, 'auth' | 'data'>): string {
  return config.auth.tokens ?? join(config.data, 'tokens.json');
}

/** Throws TokensFileError, or StartError where the member must not be open. */
export async function openAccess(options: OpenAccessOptions): Promise<OpenAccess> {
  const { config, listens, clock, log } = options;
  const { insecureNoAuth } = config.auth;
  const file = tokensFileOf(config);
  const stamp = await stampOf(file);
  const namespaceRates = new NamespaceRates(options.quotas);
  const access = new Access({ clock, rate: rateOf(config.limits), namespaceRates });
  const source = await openTokens({
    file,
    log,
    named: config.auth.tokens !== null,
    use: (tokens) => access.use(tokens),
  });
  const found = source.value;
  const count = found.tokens.length;
  checkStart({ listens, hasTokens: count > 0, insecureNoAuth, tokensFile: file });
  if (count === 0 && insecureNoAuth) {
    log.warn('No token is needed: every client that reaches this member may do everything.', {
      event: 'no-token-needed',
    });
  }
  if (lacksKey(found)) {
    log.warn(
      'The tokens file has no "number-key": a namespace can find out which ids and idempotency keys another one uses, and take them. docs/security.md says how to add one.',
      { event: 'number-key-missing', file },
    );
  }
  const numbering = numberingOf(found.numberKey);
  const close = watch({ file, stamp, clock, changed: () => source.reload() });
  return { access, numbering, reload: () => source.reload(), close };
}

/** Whether clients that may not see each other's timers share numbers. */
function lacksKey({ tokens, numberKey }: TokensFile): boolean {
  return numberKey === null && tokens.some(({ namespace }) => namespace !== anyNamespace);
}

interface Watch {
  readonly file: string;
  /** State of the file before it was read. */
  readonly stamp: string;
  readonly clock: Clock;
  readonly changed: () => Promise<void>;
}

function watch({ file, stamp, clock, changed }: Watch): Cancel {
  let seen = stamp;
  let closed = false;
  let cancel: Cancel = () => {};
  const look = async (): Promise<void> => {
    const now = await stampOf(file);
    if (now !== seen && !closed) await changed();
    seen = now;
    next();
  };
  const next = (): void => {
    if (!closed) cancel = clock.at(nextRoundMs(clock, lookMs), () => void look());
  };
  next();
  return () => {
    closed = true;
    cancel();
  };
}

/** Another one when the file was written or replaced; empty while there is none. */
async function stampOf(file: string): Promise<string> {
  const found = await stat(file).catch(() => null);
  if (found === null) return '';
  return `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}`;
}
