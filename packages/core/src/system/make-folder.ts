/**
 * Creates a folder, for its owner only, and the ones above it that are missing.
 *
 * Not `mkdir` with `recursive`: it tries again without end where the folder above is there and takes no new names, as
 * /proc does (Node 24).
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Throws the error of the file system. A folder that is there already stays as it is. */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && statSync(folder).isDirectory()) return;
    const above = dirname(folder);
    if (code !== 'ENOENT' || existsSync(above)) throw error;
    makeFolder(above);
    makeFolder(folder);
  }
}
