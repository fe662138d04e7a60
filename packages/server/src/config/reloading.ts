/**
 * A value made from texts that are replaced while the member runs: secrets, certificates, tokens, members. Made anew
 * when told to read again (SIGHUP, or a file changed). Texts that cannot be used, or are gone, are reported, and the
 * value stays as it was.
 */
import { type Log, sentenceOf } from '@carillon/core';

export interface ReloadingOptions<T> {
  /** Begins the sentences in the log: "The certificate of the API". */
  readonly what: string;
  /** More than one where they belong together, such as a certificate and its key. */
  readonly files: readonly string[];
  /** The contents in the order of `files`; null: there is no such file. */
  readonly read: () => Promise<readonly (string | null)[]>;
  /** Throws with a sentence when the contents cannot be used; the sentence is logged. */
  readonly make: (contents: readonly (string | null)[]) => T;
  readonly log: Log;
  /** Told of every value but the first. */
  readonly changed: (value: T) => void;
}

export class Reloading<T> {
  private readonly options: ReloadingOptions<T>;
  private contents: readonly (string | null)[];
  private made: T;
  private reloading: Promise<void> = Promise.resolve();

  private constructor(options: ReloadingOptions<T>, contents: readonly (string | null)[]) {
    this.options = options;
    this.contents = contents;
    this.made = options.make(contents);
  }

  /** Rejects with the error of `read` or `make`. */
  static async open<T>(options: ReloadingOptions<T>): Promise<Reloading<T>> {
    return new Reloading(options, await options.read());
  }

  get value(): T {
    return this.made;
  }

  /** Reads again; never rejects. */
  reload(): Promise<void> {
    this.reloading = this.reloading.then(() => this.load());
    return this.reloading;
  }

  private async load(): Promise<void> {
    const { what, files, log, changed } = this.options;
    try {
      if (!(await this.renew())) return;
    } catch (error) {
      log.error(`${what} cannot be used; everything stays as it was.`, {
        event: 'file-unusable',
        files,
        reason: sentenceOf(error),
      });
      return;
    }
    log.info(`${what} changed.`, { event: 'file-reloaded', files });
    changed(this.made);
  }

  /** False: nothing has changed. */
  private async renew(): Promise<boolean> {
    const { read, make } = this.options;
    const contents = await read();
    if (contents.every((content, i) => content === this.contents[i])) return false;
    if (contents.some((content, i) => content === null && this.contents[i] !== null)) {
      throw new Error('It is gone.');
    }
    this.made = make(contents);
    this.contents = contents;
    return true;
  }
}
