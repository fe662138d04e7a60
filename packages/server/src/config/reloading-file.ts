/** A value made from files that must be there, made anew when one of them changes and when told to. */
import { type Cancel, type Clock, sentenceOf } from '@carillon/core';
import { readText } from './read-text.ts';
import { Reloading, type ReloadingOptions } from './reloading.ts';
import { watchFile } from './watch-file.ts';

export interface ReloadingFileOptions<T> extends Omit<ReloadingOptions<T>, 'read' | 'make'> {
  /**
   * Gets the contents in the order of `files`. Throws with a sentence when they cannot be used; the sentence is logged.
   */
  readonly make: (contents: readonly string[]) => T;
  readonly clock: Clock;
}

/** Files that belong together are not replaced in the same moment. */
const settleMs = 200;

export class ReloadingFile<T> {
  private readonly clock: Clock;
  private readonly made: Reloading<T>;
  private readonly unwatch: readonly (() => void)[];
  private cancelSettling: Cancel | null = null;

  private constructor({ clock, files }: ReloadingFileOptions<T>, made: Reloading<T>) {
    this.clock = clock;
    this.made = made;
    this.unwatch = files.map((file) => watchFile(file, () => this.settle()));
  }

  /** Rejects with a sentence when the files cannot be used. */
  static async open<T>(options: ReloadingFileOptions<T>): Promise<ReloadingFile<T>> {
    const { what, files, make } = options;
    const read = (): Promise<string[]> => Promise.all(files.map(readText));
    const made = (contents: readonly (string | null)[]): T =>
      make(contents.map((content) => content ?? ''));
    try {
      return new ReloadingFile(options, await Reloading.open({ ...options, read, make: made }));
    } catch (cause) {
      throw new Error(`${what} cannot be used (${files.join(', ')}): ${sentenceOf(cause)}`, {
        cause,
      });
    }
  }

  get value(): T {
    return this.made.value;
  }

  /** Reads the files again; never rejects. */
  reload(): Promise<void> {
    return this.made.reload();
  }

  close(): void {
    this.cancelSettling?.();
    for (const stop of this.unwatch) stop();
  }

  private settle(): void {
    const { clock } = this;
    this.cancelSettling?.();
    this.cancelSettling = clock.at(clock.now() + settleMs, () => void this.reload());
  }
}
