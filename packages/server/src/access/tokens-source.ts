/**
 * Tokens from their file, read again when told to (SIGHUP, or the file changed). A file that cannot be used, or is gone, is
 * reported and the tokens stay as they were. Unlike other files it need not be there: it may come while the member runs.
 * The number key of the start stays for as long as the member runs: all its numbers follow from it.
 */
import type { Log } from '@carillon/core';
import type { Token } from './token.ts';
import { noTokens, parseTokens, type TokensFile, TokensFileError } from './tokens-file.ts';

export interface TokensSourceOptions {
  readonly file: string;
  readonly log: Log;
  /** Whether the file was asked for by name, so that its absence at the start is a mistake. */
  readonly named: boolean;
  /** null: there is no such file. */
  readonly read: () => Promise<string | null>;
  readonly use: (tokens: readonly Token[]) => void;
}

export class TokensSource {
  private readonly options: TokensSourceOptions;
  private text: string | null = null;
  private numberKey: string | null = null;

  constructor(options: TokensSourceOptions) {
    this.options = options;
  }

  /** The first time. Throws TokensFileError. */
  async start(): Promise<TokensFile> {
    const { file, named } = this.options;
    const found = await this.load((parsed) => {
      this.numberKey = parsed.numberKey;
    });
    if (this.text === null && named) {
      throw new TokensFileError(
        `There is no tokens file ${file}; carillon token create --tokens ${file} makes one.`,
      );
    }
    return found;
  }

  /** Never throws. */
  async reload(): Promise<void> {
    const { file, log } = this.options;
    const before = this.text;
    try {
      const { tokens } = await this.load((parsed) => this.compareKeys(parsed));
      if (this.text === before) return;
      log.info('The tokens were read again.', { file, tokens: tokens.length });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error('The tokens file cannot be used; the tokens stay as they were.', { file, reason });
    }
  }

  private async load(check: (parsed: TokensFile) => void): Promise<TokensFile> {
    const text = await this.options.read();
    if (text === null && this.text !== null) throw new TokensFileError('The tokens file is gone.');
    const parsed = text === null ? noTokens : parseTokens(text);
    if (text === this.text) return parsed;
    check(parsed);
    this.options.use(parsed.tokens);
    this.text = text;
    return parsed;
  }

  /** Throws TokensFileError. */
  private compareKeys({ numberKey }: TokensFile): void {
    const { file, log } = this.options;
    if (numberKey === this.numberKey) return;
    if (this.numberKey !== null) {
      throw new TokensFileError(
        'Its "number-key" is not the one that this member started with, from which the numbers of all its timers follow: put that one back.',
      );
    }
    log.warn(
      'The tokens file has a "number-key" that it did not have at the start: it is not used. docs/security.md says how to begin to use it.',
      { file },
    );
  }
}
