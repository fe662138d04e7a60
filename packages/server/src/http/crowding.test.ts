/**
 * More requests than there is time for: every client gets an answer, pops are made in time, and sets that wait long are
 * refused.
 */
import { SystemClock } from '@carillon/core/system';
import { expect, test } from 'vitest';
import { type Dialled, serving } from './listening.contract.ts';
import { type ApiResponse, textResponse } from './message.ts';

/** A clock that only work moves. */
class WorkClock extends SystemClock {
  nowMs = 1000;

  override now(): number {
    return this.nowMs;
  }
}

interface Crowd {
  readonly statuses: readonly number[];
  readonly polls: number;
}

/** One request of each client, all of them there before the first is worked on. */
async function crowd(methods: readonly string[], workMs: number): Promise<Crowd> {
  const clock = new WorkClock();
  const clients: Dialled[] = [];
  let polls = 0;
  const sendAll = (): void =>
    methods.forEach((method, i) =>
      clients[i]?.send(`${method} / HTTP/1.1\r\nhost: localhost\r\n\r\n`),
    );
  const handle = ({ path }: { path: string }): ApiResponse => {
    // Sent inside a turn of the member, they are all there in its next one.
    if (path === '/go') sendAll();
    else clock.nowMs += workMs;
    return textResponse('done');
  };
  await using at = await serving(handle, { clock, beforeWork: () => polls++ });
  for (const _ of methods) clients.push(await at.dial());
  const starter = await at.dial();
  starter.send('GET /go HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await Promise.all(clients.map((client) => client.until(/done|overloaded/)));
  for (const client of [starter, ...clients]) client.socket.destroy();
  return { statuses: clients.map((client) => client.statuses[0] ?? 0), polls: polls - 1 };
}

const times = (count: number, method: string): string[] =>
  Array.from({ length: count }, () => method);

test('sets that stand in line with many others for long are 503, and every client is answered', async () => {
  const { statuses, polls } = await crowd(times(400, 'POST'), 1);
  const refused = statuses.filter((status) => status === 503).length;
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  // The last 256 are not many, and before them each turn works on two.
  expect(refused).toBeGreaterThan(0);
  expect(refused).toBeLessThanOrEqual(400 - 256);
  // Pops are also made before each refusal.
  expect(polls).toBe(400);
});

test('reads and cancels are worked on all the same', async () => {
  const methods = Array.from({ length: 100 }, () => ['PUT', 'GET', 'PUT', 'DELETE']).flat();
  const { statuses } = await crowd(methods, 1);
  expect(new Set(statuses.filter((_, i) => methods[i] !== 'PUT'))).toEqual(new Set([200]));
  expect(statuses).toContain(503);
});

test('many quick requests are not refused, nor are a few slow ones', async () => {
  const quick = await crowd(times(400, 'POST'), 0.01);
  expect(new Set(quick.statuses)).toEqual(new Set([200]));
  const slow = await crowd(times(100, 'POST'), 40);
  expect(new Set(slow.statuses)).toEqual(new Set([200]));
});

test('requests of one connection are worked on in turns, with requests of other connections in between', async () => {
  const clock = new WorkClock();
  const worked: string[] = [];
  await using at = await serving(
    ({ path }) => {
      clock.nowMs += 1;
      worked.push(path);
      return textResponse('done');
    },
    { clock },
  );
  const greedy = await at.dial();
  const modest = await at.dial();
  greedy.send('GET /greedy HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(20));
  modest.send('GET /modest HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await expect.poll(() => greedy.statuses.length + modest.statuses.length).toBe(21);
  expect(worked.length).toBe(21);
  expect(worked.at(-1)).toBe('/greedy');
  greedy.socket.destroy();
  modest.socket.destroy();
});

test('bytes that wait in line count as kept: beyond the limit they are refused and the connection closed', async () => {
  const clock = new WorkClock();
  const handle = (): ApiResponse => {
    clock.nowMs += 5;
    return textResponse('done');
  };
  const overrides = { 'limits.bufferedBytesMax': 65_536, 'limits.bodyBytesMax': 65_536 };
  await using at = await serving(handle, { clock, overrides });
  const clients: Dialled[] = [];
  for (let i = 0; i < 10; i++) clients.push(await at.dial());
  // Each more than a tenth of the room, in one piece.
  const request = `GET / HTTP/1.1\r\nhost: localhost\r\nx-long: ${'y'.repeat(9000)}\r\n\r\n`;
  for (const client of clients) client.send(request);
  await Promise.all(clients.map((client) => client.until(/done|overloaded/)));
  const statuses = clients.map((client) => client.statuses[0]);
  expect(statuses).toContain(200);
  expect(statuses).toContain(503);
  for (const client of clients) client.socket.destroy();
});
