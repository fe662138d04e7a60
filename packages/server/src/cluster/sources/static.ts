/**
 * Views from a file that somebody else writes. Read again when told to (SIGHUP, or the file changed); a file that
 * cannot be used is reported and the view stays as it was.
 */
import type { Log } from '@carillon/core';
import { parseMembers } from './members-file.ts';
import type { ViewSource } from './source.ts';
import type { ViewSpec } from '../view.ts';

export interface StaticOptions {
  readonly file: string;
  readonly log: Log;
  readonly read: () => Promise<string>;
  /** Calls `changed` when the file may have changed; returns how to stop. */
  readonly watch: (changed: () => void) => () => void;
}

export class StaticSource implements ViewSource {
  private readonly options: StaticOptions;
  private revision = 0;
  private text: string | null = null;
  private onView: (spec: ViewSpec) => void = () => {};
  private unwatch: () => void = () => {};

  constructor(options: StaticOptions) {
    this.options = options;
  }

  async start(onView: (spec: ViewSpec) => void): Promise<void> {
    this.onView = onView;
    await this.load();
    this.unwatch = this.options.watch(() => void this.reload());
  }

  /** Reads the file again; never throws. */
  async reload(): Promise<void> {
    const { file, log } = this.options;
    try {
      await this.load();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error('The members file cannot be used; the view stays as it was.', { file, reason });
    }
  }

  async ready(): Promise<void> {}

  async leave(): Promise<void> {}

  async stop(): Promise<void> {
    this.unwatch();
  }

  private async load(): Promise<void> {
    const text = await this.options.read();
    if (text === this.text) return;
    const members = parseMembers(text);
    this.text = text;
    this.onView({ source: 'static', revision: ++this.revision, members });
  }
}
