/** A folder in memory, for the history of a member that keeps nothing on disk. Gone with the process. */
import { type Disk, DiskError, type DiskFile } from '@carillon/core';

class RamFile implements DiskFile {
  readonly name: string;
  private buffer = new Uint8Array(1024);
  private end = 0;

  constructor(name: string) {
    this.name = name;
  }

  get size(): number {
    return this.end;
  }

  append(bytes: Uint8Array): Promise<void> {
    if (this.end + bytes.length > this.buffer.length) {
      const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.end + bytes.length));
      grown.set(this.buffer.subarray(0, this.end));
      this.buffer = grown;
    }
    this.buffer.set(bytes, this.end);
    this.end += bytes.length;
    return Promise.resolve();
  }

  sync(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  cut(size: number): void {
    this.end = Math.min(this.end, size);
  }

  read(offset: number, length: number): Uint8Array {
    return this.buffer.slice(Math.min(offset, this.end), Math.min(offset + length, this.end));
  }
}

export class RamDisk implements Disk {
  private readonly files = new Map<string, RamFile>();

  list(): Promise<{ name: string; size: number }[]> {
    return Promise.resolve([...this.files].map(([name, { size }]) => ({ name, size })));
  }

  /** Not known: the history bounds itself. */
  room(): Promise<null> {
    return Promise.resolve(null);
  }

  create(name: string): Promise<DiskFile> {
    const file = new RamFile(name);
    this.files.set(name, file);
    return Promise.resolve(file);
  }

  async read(name: string, offset: number, length: number): Promise<Uint8Array> {
    return this.file(name).read(offset, length);
  }

  async rename(from: string, to: string): Promise<void> {
    this.files.set(to, this.file(from));
    this.files.delete(from);
  }

  remove(name: string): Promise<void> {
    this.files.delete(name);
    return Promise.resolve();
  }

  async truncate(name: string, size: number): Promise<void> {
    this.file(name).cut(size);
  }

  private file(name: string): RamFile {
    const file = this.files.get(name);
    if (file === undefined) throw new DiskError('failed', `There is no ${name}.`);
    return file;
  }
}
