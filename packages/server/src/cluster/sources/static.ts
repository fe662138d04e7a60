/**
 * Views from a file that an operator or another program writes. Read again when told to (SIGHUP, or the file changed).
 */
import type { Log } from '@carillon/core';
import { Reloading } from '../../config/reloading.ts';
import { parseMembers } from './members-file.ts';
import type { ViewSource } from './source.ts';
import type { ViewMember, ViewSpec } from '../view/view.ts';

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
  private members: Reloading<readonly ViewMember[]> | null = null;
  private unwatch: () => void = () => {};

  constructor(options: StaticOptions) {
    this.options = options;
  }

  async start(onView: (spec: ViewSpec) => void): Promise<void> {
    const { file, log, read, watch } = this.options;
    const show = (members: readonly ViewMember[]): void =>
      onView({ source: 'static', revision: ++this.revision, members });
    this.members = await Reloading.open({
      what: 'The members file',
      files: [file],
      read: async () => [await read()],
      make: ([text]) => parseMembers(text ?? ''),
      log,
      changed: show,
    });
    show(this.members.value);
    this.unwatch = watch(() => void this.reload());
  }

  /** Reads the file again; never throws. */
  async reload(): Promise<void> {
    await this.members?.reload();
  }

  async ready(): Promise<void> {}

  async leave(): Promise<void> {}

  async stop(): Promise<void> {
    this.unwatch();
  }
}
