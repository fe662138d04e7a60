/** Children that must not outlive this process, however it ends. */
import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();
let isWatching = false;

export function endWithUs(child: ChildProcess): void {
  if (!isWatching) process.once('exit', endAll);
  isWatching = true;
  children.add(child);
  child.once('exit', () => children.delete(child));
}

function endAll(): void {
  for (const child of children) child.kill('SIGKILL');
}
