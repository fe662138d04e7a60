/**
 * A recurring tick that bills a customer. The receiver may get a pop twice after a fault, so its work is keyed by timer
 * and sequence: the second time finds the invoice there.
 * Run it beside a member: node --conditions=source examples/billing-tick.ts
 */
import { Carillon, receiver } from '@carillon/client';
import { listen } from './receiver-http.ts';

const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});
const { promise: billed, resolve: enough } = Promise.withResolvers<void>();

/** A table with a unique key in real life: how many months each pop billed. */
const invoices = new Map<string, number>();
const monthsBilled = (): number => [...invoices.values()].reduce((sum, months) => sum + months, 0);

const receive = receiver((pop) => {
  const key = `${pop.id.slice(0, 16)}-${pop.sequence}`;
  if (invoices.has(key)) return;
  // `missed` counts ticks that were merged into this one after downtime: they are billed with it.
  invoices.set(key, 1 + pop.missed);
  if (monthsBilled() === 3) enough();
});
const { url, close } = await listen(receive);
const tag = `billing-${process.pid}`;

// In real life: { cron: '0 6 1 * *', timezone: 'Europe/Vienna', forever: true }, the first of each month at six.
const monthly = await carillon.set({
  cron: '0 6 1 * *',
  timezone: 'Europe/Vienna',
  forever: true,
  uri: `${url}/billing`,
  opaque: 'customer 1',
  tags: [tag],
});
const next = (await carillon.get(monthly.id))?.nextDue;
const hour = next?.toLocaleTimeString('en-GB', { timeZone: 'Europe/Vienna' });
console.log(`customer 1 is billed at ${hour} in Vienna`);

// Not to wait for months: a tick every 300 ms, three times.
await carillon.set({ every: '300ms', count: 3, uri: `${url}/billing`, opaque: 'customer 2' });
await billed;
console.log(`customer 2 is billed for ${monthsBilled()} months`);

console.log(`timers cancelled: ${await carillon.cancelByTag(tag)}`);
close();
