export { SystemClock } from './clock.ts';
export { SystemDisk } from './disk.ts';
export { FolderInUseError } from './folder-lock.ts';
export { makeFolder } from './make-folder.ts';
export { SystemRandom } from './random.ts';
