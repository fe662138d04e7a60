/**
 * Three members with 1,320 timers of 64 KiB that pop thousands of times while three readers list all of them. Prints
 * how many pops came twice; exits 1 when one did, or when a list, an export or a set was incomplete. `npm run
 * show:large [-- TIMERS [POPS OF EACH [SECONDS BETWEEN POPS [READERS]]]]`
 */
import { largeTimers } from './support/large-timers.ts';

const [timers = 1320, times = 4, intervalSeconds = 15, readers = 3] = process.argv
  .slice(2)
  .map(Number);
const pages = [100, 1000, 1000].slice(0, readers);
const result = await largeTimers({ timers, times, intervalSeconds, pages });
const { copies, listed, written, pops, merged, repeated, p99LatenessMs } = result;
const few = copies.filter((one) => one !== '2/2').length;
const short = listed.filter((count) => count !== timers).length;
console.log(`sets with fewer than two copies: ${few} of ${copies.length}`);
console.log(`lists that were incomplete: ${short} of ${listed.length}`);
for (const [name, count] of Object.entries(written)) console.log(`${name}: ${count} timers`);
console.log(
  `pops that came twice: ${repeated} of ${pops}; p99 lateness ${p99LatenessMs} ms, ${merged} merged`,
);
const isWhole = Object.values(written).every((count) => count === timers);
if (few + short + repeated > 0 || !isWhole) process.exitCode = 1;
