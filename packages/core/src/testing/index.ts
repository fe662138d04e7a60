export { SeededRandom } from './seeded-random.ts';
export { settle, VirtualClock } from './virtual-clock.ts';
