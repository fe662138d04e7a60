/**
 * A session that ends when nothing happened for a while: every activity replaces the timer, and the pop ends the
 * session. Run it beside a member: node --conditions=source examples/session-timeout.ts
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Carillon, receiver } from '@carillon/client';
import { listen } from './receiver-http.ts';

const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});
const { promise: ended, resolve: end } = Promise.withResolvers<string>();
const { url, close } = await listen(receiver((pop) => end(pop.opaque)));

/** Twenty minutes in real life. */
const timeout = '3s';
const spec = { in: timeout, uri: `${url}/session-timeout`, opaque: 'session of ada' };

let lastMs = performance.now();
let { id } = await carillon.set(spec);
for (const page of ['/basket', '/address', '/payment']) {
  await pause(150);
  lastMs = performance.now();
  // Replacing starts the time anew. The answer may carry a newer id; the old one stays valid too.
  ({ id } = await carillon.replace(id, spec));
  console.log(`activity: ${page}`);
}

console.log(`ended: ${await ended}`);
const quietMs = performance.now() - lastMs;
console.log(quietMs >= 2990 ? 'the whole time-out after the last activity' : `early: ${quietMs}`);
close();
