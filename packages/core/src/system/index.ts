export { SystemClock } from './clock.ts';
export { SystemDisk } from './disk.ts';
export { FolderInUseError } from './folder-lock.ts';
export { SystemRandom } from './random.ts';
