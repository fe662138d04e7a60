/**
 * A value made from files that are replaced while the member runs: secrets, certificates. Made anew when one of the
 * files changes and when told to (SIGHUP); a file that cannot be used is reported, and the value stays as it was.
 */
import { readFile } from 'node:fs/promises';
import type { Cancel, Clock, Log } from '@carillon/core';
import { watchFile } from './watch-file.ts';

export interface ReloadingFileOptions<T> {
  /** Begins the sentences in the log: "The certificate of the API". */
  readonly what: string;
  /** More than one where they belong together, such as a certificate and its key. */
  readonly files: readonly string[];
  /** Gets the contents in the order of `files`. Throws with a sentence when they cannot be used; the sentence is logged. */
  readonly make: (contents: readonly string[]) => T;
  readonly clock: Clock;
  readonly log: Log;
  /** Told of every value but the first. */
  readonly changed: (value: T) => void;
}

/** Files that belong together are not replaced in the same moment. */
const settleMs = 200;

export class ReloadingFile<T> {
  private readonly options: ReloadingFileOptions<T>;
  private contents: readonly string[];
  private made: T;
  private unwatch: readonly (() => void)[] = [];
  private cancelSettling: Cancel | null = null;
  private reloading: Promise<void> = Promise.resolve();

  private constructor(options: ReloadingFileOptions<T>, contents: readonly string[]) {
    this.options = options;
    this.contents = contents;
    this.made = options.make(contents);
  }

  /** Rejects with a sentence when the files cannot be used. */
  static async open<T>(options: ReloadingFileOptions<T>): Promise<ReloadingFile<T>> {
    try {
      const opened = new ReloadingFile(options, await read(options.files));
      opened.unwatch = options.files.map((file) => watchFile(file, () => opened.settle()));
      return opened;
    } catch (cause) {
      const { what, files } = options;
      throw new Error(`${what} cannot be used (${files.join(', ')}): ${sentence(cause)}`, {
        cause,
      });
    }
  }

  get value(): T {
    return this.made;
  }

  /** Reads the files again; never rejects. */
  reload(): Promise<void> {
    this.reloading = this.reloading.then(() => this.load());
    return this.reloading;
  }

  close(): void {
    this.cancelSettling?.();
    for (const stop of this.unwatch) stop();
  }

  private settle(): void {
    const { clock } = this.options;
    this.cancelSettling?.();
    this.cancelSettling = clock.at(clock.now() + settleMs, () => void this.reload());
  }

  private async load(): Promise<void> {
    const { what, files, make, log, changed } = this.options;
    try {
      const contents = await read(files);
      if (contents.every((content, i) => content === this.contents[i])) return;
      this.made = make(contents);
      this.contents = contents;
    } catch (error) {
      const reason = sentence(error);
      log.error(`${what} cannot be used; everything stays as it was.`, { files, reason });
      return;
    }
    log.info(`${what} changed.`, { files });
    changed(this.made);
  }
}

function read(files: readonly string[]): Promise<string[]> {
  return Promise.all(files.map((file) => readFile(file, 'utf8')));
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
