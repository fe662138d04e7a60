/**
 * Until when the stored answers of each namespace's receivers are erased. Kept in a file of its own until no file of
 * the history has them any more, so that a restart in between brings none of them back.
 */
import type { Disk } from '@carillon/core';
import { partOf } from './file.ts';

const name = 'history-erased';

export class ErasedAnswers {
  private readonly disk: Disk;
  /** By namespace: answers before this wall-clock time are erased. */
  private untilMs = new Map<string, number>();

  constructor(disk: Disk) {
    this.disk = disk;
  }

  get all(): ReadonlyMap<string, number> {
    return this.untilMs;
  }

  async read(): Promise<void> {
    const { disk } = this;
    const found = (await disk.list()).find((file) => file.name === name);
    if (found === undefined) return;
    const text = new TextDecoder().decode(await disk.read(name, 0, found.size));
    this.untilMs = new Map(JSON.parse(text) as [string, number][]);
  }

  async add(namespace: string, beforeMs: number): Promise<void> {
    this.untilMs.set(namespace, beforeMs);
    await this.write();
  }

  async drop(namespaces: readonly string[]): Promise<void> {
    if (namespaces.length === 0) return;
    for (const namespace of namespaces) this.untilMs.delete(namespace);
    await this.write();
  }

  private async write(): Promise<void> {
    const { disk } = this;
    if (this.untilMs.size === 0) return disk.remove(name);
    const handle = await disk.create(partOf(name));
    await handle.append(new TextEncoder().encode(JSON.stringify([...this.untilMs])));
    await handle.sync();
    await handle.close();
    await disk.rename(partOf(name), name);
  }
}
