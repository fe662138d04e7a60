/** Says when a file may have changed. */
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/**
 * Watches the folder, because editors and config maps replace a file instead of writing into it. Returns how to stop.
 */
export function watchFile(file: string, changed: () => void): () => void {
  const name = basename(file);
  const watcher: FSWatcher = watch(dirname(file), { persistent: false }, (_, changedName) => {
    if (changedName === null || changedName === name || changedName.startsWith('..')) changed();
  });
  watcher.on('error', changed);
  return () => watcher.close();
}
