export { definitionOf } from './definitions.ts';
export { EventQueue, type PlannedEvent } from './event-queue.ts';
export { MemoryDisk, type MemoryDiskOptions } from './memory-disk.ts';
export {
  type CallbackScript,
  type FakeAnswer,
  type FakeCall,
  FakeCallbacks,
} from './fake-callbacks.ts';
export { MemoryHub, type MemoryHubOptions } from './memory-network.ts';
export { SeededRandom } from './seeded-random.ts';
export { settle, VirtualClock } from './virtual-clock.ts';
