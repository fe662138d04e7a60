/**
 * Tokens from their file, read again when told to (SIGHUP, or the file changed). A file that cannot be used, or is gone, is
 * reported and the tokens stay as they were. Unlike other files it need not be there: it may come while the member runs.
 */
import type { Log } from '@carillon/core';
import type { Token } from './token.ts';
import { parseTokens, TokensFileError } from './tokens-file.ts';

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

  constructor(options: TokensSourceOptions) {
    this.options = options;
  }

  /** The first time; resolves with how many there are. Throws TokensFileError. */
  async start(): Promise<number> {
    const { file, named } = this.options;
    const count = await this.load();
    if (this.text === null && named) {
      throw new TokensFileError(
        `There is no tokens file ${file}; carillon token create --tokens ${file} makes one.`,
      );
    }
    return count;
  }

  /** Never throws. */
  async reload(): Promise<void> {
    const { file, log } = this.options;
    const before = this.text;
    try {
      const count = await this.load();
      if (this.text !== before) log.info('The tokens were read again.', { file, tokens: count });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error('The tokens file cannot be used; the tokens stay as they were.', { file, reason });
    }
  }

  private async load(): Promise<number> {
    const text = await this.options.read();
    if (text === null && this.text !== null) throw new TokensFileError('The tokens file is gone.');
    const tokens = text === null ? [] : parseTokens(text);
    if (text !== this.text) this.options.use(tokens);
    this.text = text;
    return tokens.length;
  }
}
