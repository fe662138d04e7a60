/**
 * Keeps the compiled form of the program between starts: reading it takes half of the time that compiling takes. The
 * form is machine code in effect, so it lies in a folder that only this user can write, never in a shared one for
 * temporary files. Without such a folder every start compiles.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { dirname, isAbsolute, join } from 'node:path';

type Variables = Readonly<Record<string, string | undefined>>;

/** The bits of a mode by which a group or everyone may write. */
const writableByOthers = 0o022;
let isKept = false;

/** From the first call on, modules that are loaded come from the folder, if they are there. */
export function useCompileCache(env: Variables): void {
  const folder = compileCacheFolder(env);
  if (folder === null || !isOwn(folder)) return;
  nodeModule.enableCompileCache?.(folder);
  isKept = true;
}

/**
 * Writes everything that was compiled until now, for the next start: some 80 ms of work, or 2 ms where all is there.
 * Node itself writes it when a process ends, which a process that is killed never does.
 */
export function keepCompiled(): void {
  if (isKept) nodeModule.flushCompileCache?.();
}

/**
 * The folder that systemd or the user's environment names for caches. null: neither names one, or the environment tells
 * Node directly where to keep compiled programs, or not to.
 */
export function compileCacheFolder(env: Variables): string | null {
  if (env['NODE_COMPILE_CACHE'] || env['NODE_DISABLE_COMPILE_CACHE']) return null;
  const [given = ''] = (env['CACHE_DIRECTORY'] ?? '').split(':');
  if (isAbsolute(given)) return given;
  const shared = env['XDG_CACHE_HOME'] ?? '';
  if (isAbsolute(shared)) return join(shared, 'carillon');
  const home = env['HOME'] ?? '';
  return isAbsolute(home) && home !== '/' ? join(home, '.cache', 'carillon') : null;
}

/** Creates the folder, and the one above it, if need be. False: other users can write to it, or there is none. */
function isOwn(folder: string): boolean {
  try {
    for (const path of [dirname(folder), folder]) {
      if (!existsSync(path)) mkdirSync(path, { mode: 0o700 });
    }
    const { uid, mode } = statSync(folder);
    return uid === process.getuid?.() && (mode & writableByOthers) === 0;
  } catch {
    return false;
  }
}
