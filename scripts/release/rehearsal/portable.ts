/**
 * Run by every runtime from an empty project: the client at a real member, a receiver on a callback, and placement.
 * Prints one line; all runtimes must print the same one.
 */
import { Carillon, receiver } from '@carillon/client';
import { compileTargets } from '@carillon/placement';

const carillon = new Carillon({ members: [process.argv[2] ?? ''], refresh: null });
const { id } = await carillon.set({ in: '1h', uri: 'http://127.0.0.1:9/', opaque: 'order 17' });
const timer = await carillon.get(id);
await carillon.cancel(id);

const handled: string[] = [];
const receive = receiver((pop) => {
  handled.push(`${pop.opaque}, pop ${pop.sequence}`);
});
const callback = (): Request =>
  new Request('http://receiver.test/', {
    method: 'POST',
    headers: { 'x-timer-id': id, 'x-sequence-number': '1', 'x-timer-version': '1.0' },
    body: timer?.opaque ?? null,
  });
const answers = [await receive(callback()), await receive(callback())];

const targets = compileTargets([{ name: 'a' }, { name: 'b', weight: 2 }, { name: 'c' }]);
const ranked = targets.rank('customer/ada').map(({ name, score }) => `${name} ${score}`);

const statuses = answers.map(({ status }) => status);
console.log(JSON.stringify({ state: timer?.state, handled, statuses, ranked }));
