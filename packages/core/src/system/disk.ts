/**
 * The real disk: one folder, locked for this process. Plain files, positional writes, fdatasync; the folder
 * itself is synced whenever a name in it must survive.
 */
import { sentenceOf } from '../errors.ts';
import {
  close,
  fdatasync,
  fdatasyncSync,
  fsync,
  ftruncate,
  open as openFile,
  write,
  writeSync,
} from 'node:fs';
import { open, readdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Disk, DiskError, type DiskErrorKind, type DiskFile, type DiskRoom } from '../env.ts';
import { lockFolder, lockName } from './folder-lock.ts';
import { makeFolder } from './make-folder.ts';
import { SyncPlace } from './sync-place.ts';

const openAsync = promisify(openFile);
const closeAsync = promisify(close);
const datasyncAsync = promisify(fdatasync);
const syncAsync = promisify(fsync);
const truncateAsync = promisify(ftruncate);

export class SystemDisk implements Disk {
  readonly folder: string;
  /**
   * Descriptor of the folder, held for as long as the disk is open: a name must be synced even when no descriptor is
   * left.
   */
  private readonly fd: number;
  private readonly unlock: () => Promise<void>;
  private readonly syncPlace = new SyncPlace();

  private constructor(folder: string, fd: number, unlock: () => Promise<void>) {
    this.folder = folder;
    this.fd = fd;
    this.unlock = unlock;
  }

  /** Creates the folder if need be and takes it for this process. */
  static async open(folder: string): Promise<SystemDisk> {
    await attempt(`create the folder ${folder}`, Promise.resolve(folder).then(makeFolder));
    const unlock = await lockFolder(folder);
    try {
      return new SystemDisk(
        folder,
        await attempt(`open ${folder}`, openAsync(folder, 'r')),
        unlock,
      );
    } catch (error) {
      await unlock();
      throw error;
    }
  }

  /** Gives the folder up. */
  async close(): Promise<void> {
    await attempt(`close ${this.folder}`, closeAsync(this.fd));
    await this.unlock();
  }

  async room(): Promise<DiskRoom | null> {
    try {
      const { bsize, bavail, blocks } = await statfs(this.folder);
      return blocks > 0 ? { freeBytes: bavail * bsize, totalBytes: blocks * bsize } : null;
    } catch {
      return null;
    }
  }

  async list(): Promise<{ name: string; size: number }[]> {
    const entries = await attempt(
      `list ${this.folder}`,
      readdir(this.folder, { withFileTypes: true }),
    );
    const names = entries
      .filter((entry) => entry.isFile() && !entry.name.startsWith(lockName))
      .map((entry) => entry.name);
    const files = await Promise.all(names.map((name) => this.look(name)));
    return files.filter((file) => file !== null);
  }

  async create(name: string, aheadBytes = 0): Promise<DiskFile> {
    const fd = await attempt(`create ${name}`, openAsync(this.path(name), 'w', 0o600));
    await this.syncFolder();
    return new SystemFile(name, fd, aheadBytes, this.syncPlace);
  }

  async read(name: string, offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    const file = await attempt(`open ${name}`, open(this.path(name), 'r'));
    try {
      const bytes = into ?? new Uint8Array(length);
      let done = 0;
      while (done < length) {
        const { bytesRead } = await attempt(
          `read ${name}`,
          file.read(bytes, done, length - done, offset + done),
        );
        if (bytesRead === 0) break;
        done += bytesRead;
      }
      return bytes.subarray(0, done);
    } finally {
      await file.close();
    }
  }

  async rename(from: string, to: string): Promise<void> {
    await attempt(`rename ${from} to ${to}`, rename(this.path(from), this.path(to)));
    await this.syncFolder();
  }

  async remove(name: string): Promise<void> {
    await attempt(`remove ${name}`, rm(this.path(name), { force: true }));
  }

  async truncate(name: string, size: number): Promise<void> {
    const file = await attempt(`open ${name}`, open(this.path(name), 'r+'));
    try {
      await attempt(`cut ${name} to ${size} bytes`, file.truncate(size));
      await attempt(`sync ${name}`, file.sync());
    } finally {
      await file.close();
    }
  }

  /** null: it was removed since its name was read. */
  private async look(name: string): Promise<{ name: string; size: number } | null> {
    try {
      const { size } = await stat(this.path(name));
      return { name, size };
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return null;
      throw asDiskError(`look at ${name}`, cause);
    }
  }

  private path(name: string): string {
    return join(this.folder, name);
  }

  private async syncFolder(): Promise<void> {
    await attempt(`sync ${this.folder}`, syncAsync(this.fd));
  }
}

/** Writes up to this much are not handed to a thread, nor are syncs of up to this much on a quick disk. */
const littleBytes = 64 * 1024;

class SystemFile implements DiskFile {
  readonly name: string;
  private readonly fd: number;
  private end = 0;
  private aheadBytes: number;
  /** Up to here the file has room on the disk; before the first sync it takes none ahead. */
  private reach = Number.POSITIVE_INFINITY;
  private unsyncedBytes = 0;
  private readonly syncPlace: SyncPlace;

  constructor(name: string, fd: number, aheadBytes: number, syncPlace: SyncPlace) {
    this.name = name;
    this.fd = fd;
    this.aheadBytes = aheadBytes;
    this.syncPlace = syncPlace;
  }

  get size(): number {
    return this.end;
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.write(bytes);
    this.end += bytes.length;
    if (this.end > this.reach && this.aheadBytes > 0) await this.reachAhead();
  }

  async sync(): Promise<void> {
    if (this.isLittleToSync && this.syncPlace.isHere()) this.syncHere();
    else await attempt(`sync ${this.name}`, datasyncAsync(this.fd));
    this.unsyncedBytes = 0;
    if (this.reach === Number.POSITIVE_INFINITY) this.reach = this.end;
  }

  /** Only in room that the file has already: a sync that also makes the file longer is slow on any disk. */
  private get isLittleToSync(): boolean {
    return (
      this.unsyncedBytes <= littleBytes && Number.isFinite(this.reach) && this.end <= this.reach
    );
  }

  /** Holds up the event loop for as long as the disk takes. */
  private syncHere(): void {
    const startedMs = performance.now();
    try {
      fdatasyncSync(this.fd);
    } catch (cause) {
      throw asDiskError(`sync ${this.name}`, cause);
    }
    this.syncPlace.took(performance.now() - startedMs);
  }

  async close(): Promise<void> {
    if (this.aheadBytes > 0) await this.cutBack();
    await attempt(`close ${this.name}`, closeAsync(this.fd));
  }

  /** A sync of bytes inside the file is half the work of one that also makes the file longer. */
  private async reachAhead(): Promise<void> {
    try {
      await this.write(new Uint8Array(this.aheadBytes));
      this.reach = this.end + this.aheadBytes;
    } catch (error) {
      if (!(error instanceof DiskError) || error.kind !== 'full') throw error;
      // The disk is nearly full: leave the remaining room to entries.
      this.aheadBytes = 0;
    }
  }

  /** All of it behind the end, or nothing. */
  private async write(bytes: Uint8Array): Promise<void> {
    let done = 0;
    try {
      while (done < bytes.length)
        done += await this.writeSome(bytes.subarray(done), this.end + done);
      this.unsyncedBytes += done;
    } catch (cause) {
      const error = asDiskError(`write to ${this.name}`, cause);
      if (error.kind === 'full') await this.cutBack();
      throw error;
    }
  }

  private async cutBack(): Promise<void> {
    await attempt(`cut ${this.name} back`, truncateAsync(this.fd, this.end));
    this.reach = this.end;
  }

  /**
   * A little goes at once: it ends in the kernel's memory, and handing it to a thread and back costs several times as
   * much. Only syncing waits for the disk.
   */
  private writeSome(bytes: Uint8Array, at: number): Promise<number> {
    return new Promise((resolve, reject) => {
      if (bytes.length <= littleBytes) {
        resolve(writeSync(this.fd, bytes, 0, bytes.length, at));
        return;
      }
      write(this.fd, bytes, 0, bytes.length, at, (error, written) => {
        if (error === null) resolve(written);
        else reject(error);
      });
    });
  }
}

async function attempt<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw asDiskError(what, cause);
  }
}

const kinds: ReadonlyMap<unknown, DiskErrorKind> = new Map([
  ['ENOSPC', 'full'],
  ['EDQUOT', 'full'],
  ['EMFILE', 'no-descriptor'],
  ['ENFILE', 'no-descriptor'],
]);

function asDiskError(what: string, cause: unknown): DiskError {
  const kind = kinds.get(codeOf(cause)) ?? 'failed';
  return new DiskError(kind, `Could not ${what}: ${sentenceOf(cause)}.`, { cause });
}

function codeOf(cause: unknown): unknown {
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}
