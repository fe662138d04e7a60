export { SystemClock } from './clock.ts';
export { SystemRandom } from './random.ts';
