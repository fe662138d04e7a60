/**
 * A disk in memory that behaves like a bad one: bytes that are not synced may be lost or torn, it can be full, fail
 * or be wiped, and every call takes its time. `crash` gives the disk as it would be found after a power cut.
 */
import {
  type Clock,
  type Disk,
  DiskError,
  type DiskFile,
  type DiskRoom,
  type Random,
} from '../env.ts';

const sectorBytes = 512;
/** Zeros kept of the room that a file takes ahead: enough to show how a reader treats them. */
const roomBytesMax = 4096;

export interface MemoryDiskOptions {
  /** With a clock, every call takes `latencyMs`. */
  readonly clock?: Clock;
  readonly latencyMs?: number;
  readonly capacityBytes?: number;
}

/** The bytes of a file, apart from its name. */
class Content {
  bytes = new Uint8Array(256);
  size = 0;
  synced = 0;
  /** A sync failed: the bytes it should have saved stay unsynced, even when a later sync succeeds. */
  spoilt = false;
  /** Zeros behind the end that a crash leaves, from room that was taken ahead. */
  roomBytes = 0;

  append(more: Uint8Array): void {
    if (this.size + more.length > this.bytes.length) {
      const grown = new Uint8Array(Math.max(this.bytes.length * 2, this.size + more.length));
      grown.set(this.bytes.subarray(0, this.size));
      this.bytes = grown;
    }
    this.bytes.set(more, this.size);
    this.size += more.length;
  }

  cut(size: number): void {
    this.size = Math.min(this.size, size);
    this.synced = this.size;
    this.roomBytes = 0;
  }

  copy(size: number): Content {
    const copy = new Content();
    copy.append(this.bytes.subarray(0, size));
    copy.synced = size;
    return copy;
  }

  /** Makes this copy look as a crash leaves the file: with zeros behind its end. */
  showRoom({ roomBytes, synced }: Content): void {
    if (roomBytes > 0 && synced > 0) this.append(new Uint8Array(roomBytes));
  }
}

export class MemoryDisk implements Disk {
  private readonly clock: Clock | null;
  private files = new Map<string, Content>();
  /** Removed, but the folder was not synced since: a power cut may bring them back. */
  private removed = new Map<string, Content>();
  private dead = false;
  latencyMs: number;
  /** Lower it to make the disk full. */
  capacityBytes: number;
  /** While true, every append fails (not for lack of room). */
  appendsFail = false;
  /** While true, every sync fails. */
  syncsFail = false;
  /** While true, no file can be opened; files that are open work as always. */
  descriptorsGone = false;
  /** Appends and syncs that failed so far, other than for lack of room. */
  failureCount = 0;
  /** Calls so far, by kind. */
  readonly calls = { append: 0, sync: 0 };

  constructor(options: MemoryDiskOptions = {}) {
    this.clock = options.clock ?? null;
    this.latencyMs = options.latencyMs ?? 0;
    this.capacityBytes = options.capacityBytes ?? Number.POSITIVE_INFINITY;
  }

  get usedBytes(): number {
    let sum = 0;
    for (const content of this.files.values()) sum += content.size;
    return sum;
  }

  /**
   * The disk as it is found after a power cut at this moment: a random beginning of the unsynced bytes survives, now
   * and then with a sector that never reached the disk. Calls on this one never return.
   */
  crash(random: Random): MemoryDisk {
    this.dead = true;
    const found = this.successor();
    for (const [name, content] of this.removed) {
      if (random.unit() < 0.5) found.files.set(name, content.copy(content.synced));
    }
    for (const [name, content] of this.files) found.files.set(name, afterCut(content, random));
    return found;
  }

  /**
   * The disk as it is found after the process ended but the machine went on: all appended bytes are there, synced or
   * not.
   */
  kill(): MemoryDisk {
    this.dead = true;
    const found = this.successor();
    for (const [name, content] of this.files) {
      const copy = content.copy(content.size);
      copy.showRoom(content);
      copy.synced = content.synced;
      found.files.set(name, copy);
    }
    return found;
  }

  /** Everything is gone, as if the disk had been replaced. */
  wipe(): void {
    this.files = new Map();
    this.removed = new Map();
  }

  /** Damages one byte of a file. */
  flip(name: string, offset: number): void {
    const { bytes } = this.content(name);
    bytes[offset] = (bytes[offset] as number) ^ 0x55;
  }

  /** Damages a stretch of a file: it holds zeros. */
  zero(name: string, from: number, to: number): void {
    this.content(name).bytes.fill(0, from, to);
  }

  /** Damages a file: all bytes from `size` on are gone. */
  shorten(name: string, size: number): void {
    this.content(name).cut(size);
  }

  /** Damages the folder: the file is gone for good. A program that has it open does not notice. */
  lose(name: string): void {
    this.files.delete(name);
  }

  /** Names and sizes of the files at this moment. */
  look(): { name: string; size: number }[] {
    return [...this.files].map(([name, { size }]) => ({ name, size }));
  }

  /** A disk without a bound cannot tell. */
  room(): Promise<DiskRoom | null> {
    const { capacityBytes: totalBytes, usedBytes } = this;
    const freeBytes = Math.max(0, totalBytes - usedBytes);
    return Promise.resolve(Number.isFinite(totalBytes) ? { freeBytes, totalBytes } : null);
  }

  async list(): Promise<{ name: string; size: number }[]> {
    await this.opened('list the folder');
    return this.look();
  }

  async create(name: string, aheadBytes = 0): Promise<DiskFile> {
    await this.opened(`create ${name}`);
    const content = new Content();
    content.roomBytes = Math.min(aheadBytes, roomBytesMax);
    this.files.set(name, content);
    this.removed.clear();
    return new MemoryFile(this, name, content);
  }

  async read(name: string, offset: number, length: number): Promise<Uint8Array> {
    await this.opened(`open ${name}`);
    const { bytes, size } = this.content(name);
    return bytes.slice(Math.min(offset, size), Math.min(offset + length, size));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.turn();
    this.files.set(to, this.content(from));
    this.files.delete(from);
    this.removed.clear();
  }

  async remove(name: string): Promise<void> {
    await this.turn();
    const content = this.files.get(name);
    if (content === undefined) return;
    this.files.delete(name);
    this.removed.set(name, content);
  }

  async truncate(name: string, size: number): Promise<void> {
    await this.opened(`open ${name}`);
    this.content(name).cut(size);
  }

  /** Resolves when a call has taken its time; never, once the power is off. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      const go = (): void => {
        if (!this.dead) resolve();
      };
      if (this.clock === null || this.latencyMs === 0) go();
      else this.clock.at(this.clock.now() + this.latencyMs, go);
    });
  }

  /** Like `turn`, for calls that need a descriptor. */
  private async opened(what: string): Promise<void> {
    await this.turn();
    if (this.descriptorsGone) {
      throw new DiskError('no-descriptor', `Could not ${what}: too many open files.`);
    }
  }

  private successor(): MemoryDisk {
    const { latencyMs, capacityBytes } = this;
    return new MemoryDisk({
      ...(this.clock === null ? {} : { clock: this.clock }),
      latencyMs,
      capacityBytes,
    });
  }

  private content(name: string): Content {
    const content = this.files.get(name);
    if (content === undefined) throw new DiskError('failed', `There is no file ${name}.`);
    return content;
  }
}

class MemoryFile implements DiskFile {
  readonly name: string;
  private readonly disk: MemoryDisk;
  private readonly content: Content;

  constructor(disk: MemoryDisk, name: string, content: Content) {
    this.disk = disk;
    this.name = name;
    this.content = content;
  }

  get size(): number {
    return this.content.size;
  }

  async append(bytes: Uint8Array): Promise<void> {
    this.disk.calls.append++;
    // The caller may reuse its buffer only after this resolves; until then nothing is promised.
    await this.disk.turn();
    if (this.disk.appendsFail) {
      this.disk.failureCount++;
      throw new DiskError('failed', `Could not write to ${this.name}: the disk fails.`);
    }
    if (this.disk.usedBytes + bytes.length > this.disk.capacityBytes) {
      throw new DiskError('full', `Could not write to ${this.name}: the disk is full.`);
    }
    this.content.append(bytes);
  }

  async sync(): Promise<void> {
    this.disk.calls.sync++;
    const { size } = this.content;
    await this.disk.turn();
    if (this.disk.syncsFail) {
      this.disk.failureCount++;
      this.content.spoilt = true;
      throw new DiskError('failed', `Could not sync ${this.name}: the disk fails.`);
    }
    if (!this.content.spoilt) this.content.synced = Math.max(this.content.synced, size);
  }

  async close(): Promise<void> {
    await this.disk.turn();
    this.content.roomBytes = 0;
  }
}

function afterCut(content: Content, random: Random): Content {
  const unsynced = content.size - content.synced;
  const found = content.copy(content.synced + Math.floor(random.unit() * (unsynced + 1)));
  if (found.size - content.synced > sectorBytes && random.unit() < 0.3) {
    const hole = content.synced + Math.floor(random.unit() * (found.size - content.synced));
    const start = Math.max(content.synced, Math.floor(hole / sectorBytes) * sectorBytes);
    found.bytes.fill(0, start, Math.min(start + sectorBytes, found.size));
  }
  found.showRoom(content);
  found.synced = found.size;
  return found;
}
