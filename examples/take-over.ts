/**
 * A clustered client: process A sets a timer and dies; process B gets the callback, because the timer names an address
 * that both stand behind. The timer carries in `opaque` everything that B needs to go on.
 * Run it beside a member: node --conditions=source examples/take-over.ts
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Carillon, receiver } from '@carillon/client';
import { listen } from './receiver-http.ts';

const carillon = new Carillon({
  members: [process.env['CARILLON_SERVER'] ?? 'http://127.0.0.1:7253'],
});

/** Process A: takes a call, sets the timer that ends it, and dies without a word. */
async function beA(uri: string): Promise<void> {
  const call = { caller: 'ada', callee: 'grace', startedBy: 'A' };
  await carillon.set({ in: '500ms', uri, opaque: JSON.stringify(call) });
  process.kill(process.pid, 'SIGKILL');
}

/** Process B: knows nothing of the call until the timer pops. */
async function beB(): Promise<void> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const receive = receiver((pop) => {
    const call = JSON.parse(pop.opaque) as { caller: string; callee: string; startedBy: string };
    console.log(`B ends the call of ${call.caller} and ${call.callee}, begun by ${call.startedBy}`);
    resolve();
  });
  // In real life a name that leads to whichever of A and B is alive.
  const { url, close } = await listen(receive);
  const a = spawn(process.execPath, ['--conditions=source', import.meta.filename, `${url}/calls`], {
    stdio: 'inherit',
  });
  const [, signal] = (await once(a, 'exit')) as [number | null, string | null];
  console.log(`A is gone (${signal})`);
  await done;
  close();
}

const [uri] = process.argv.slice(2);
await (uri === undefined ? beB() : beA(uri));
