/** More requests than there is time for: those who come behind many others are told so at once. */
import { SystemClock } from '@carillon/core/system';
import { expect, test } from 'vitest';
import { serving } from './listening.contract.ts';
import { type ApiResponse, textResponse } from './message.ts';

/** A clock that only work moves. */
class WorkClock extends SystemClock {
  nowMs = 1000;

  override now(): number {
    return this.nowMs;
  }
}

async function crowd(methods: readonly string[], workMs: number): Promise<number[]> {
  const clock = new WorkClock();
  const handle = (): ApiResponse => {
    clock.nowMs += workMs;
    return textResponse('done');
  };
  await using at = await serving(handle, { clock });
  const client = await at.dial();
  client.send(methods.map((method) => `${method} / HTTP/1.1\r\nhost: x\r\n\r\n`).join(''));
  await expect.poll(() => client.statuses.length).toBe(methods.length);
  const { statuses } = client;
  client.send('POST / HTTP/1.1\r\nhost: x\r\n\r\n');
  await expect.poll(() => client.statuses.length).toBe(methods.length + 1);
  client.socket.destroy();
  return [...statuses, client.statuses.at(-1) ?? 0];
}

const times = (count: number, method: string): string[] =>
  Array.from({ length: count }, () => method);

test('sets behind many others in one turn are 503, those of the next turn are not', async () => {
  const statuses = await crowd(times(400, 'POST'), 1);
  expect(statuses.slice(0, 256)).toEqual(Array(256).fill(200));
  expect(statuses.slice(256, 400)).toEqual(Array(144).fill(503));
  expect(statuses.at(-1)).toBe(200);
});

test('reads and cancels are worked on all the same', async () => {
  const statuses = await crowd([...times(300, 'PUT'), 'GET', 'DELETE'], 1);
  expect(statuses.slice(298, 302)).toEqual([503, 503, 200, 200]);
});

test('many quick requests are not refused, nor are a few slow ones', async () => {
  expect(new Set(await crowd(times(400, 'POST'), 0.01))).toEqual(new Set([200]));
  expect(new Set(await crowd(times(100, 'POST'), 40))).toEqual(new Set([200]));
});

test('pops get their turn before what is refused, too', async () => {
  const clock = new WorkClock();
  let polls = 0;
  const handle = (): ApiResponse => {
    clock.nowMs += 1;
    return textResponse('done');
  };
  await using at = await serving(handle, { clock, beforeWork: () => polls++ });
  const client = await at.dial();
  client.send('POST / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(400));
  await expect.poll(() => client.statuses.length).toBe(400);
  expect(client.statuses.at(-1)).toBe(503);
  expect(polls).toBe(400);
  client.socket.destroy();
});
