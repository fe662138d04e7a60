/**
 * Room on the disk that is set aside while there is plenty and given up when there is none, so that pops and
 * cancels can go on being written.
 */
import type { Disk } from '@carillon/core';

const name = 'reserve';
const partName = 'reserve.part';
/** Never written to, so it takes no memory until its first use, and hardly any after that. */
const zeros = new Uint8Array(1024 * 1024);

export class Reserve {
  private readonly disk: Disk;
  private readonly bytes: number;
  private filling: Promise<boolean> | null = null;
  private wanted = false;

  constructor(disk: Disk, bytes: number) {
    this.disk = disk;
    this.bytes = bytes;
  }

  /** Sets the room aside unless it is already; false: it was given up meanwhile. Rejects when the disk has no room. */
  fill(): Promise<boolean> {
    this.wanted = true;
    this.filling ??= this.write().finally(() => {
      this.filling = null;
    });
    return this.filling;
  }

  /** Gives the room back, also the part that is being set aside at the moment. */
  async giveUp(): Promise<void> {
    this.wanted = false;
    await this.filling?.catch(() => undefined);
    await this.disk.remove(name);
  }

  /** Stops setting aside, and keeps the part that is there. */
  async stop(): Promise<void> {
    this.wanted = false;
    await this.filling?.catch(() => undefined);
  }

  private async write(): Promise<boolean> {
    const files = await this.disk.list();
    if (files.some((file) => file.name === name && file.size === this.bytes)) return this.wanted;
    try {
      await this.writePart();
      if (this.wanted) await this.disk.rename(partName, name);
      return this.wanted;
    } finally {
      await this.disk.remove(partName);
    }
  }

  private async writePart(): Promise<void> {
    const file = await this.disk.create(partName);
    try {
      while (this.wanted && file.size < this.bytes) {
        await file.append(zeros.subarray(0, Math.min(zeros.length, this.bytes - file.size)));
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }
}
