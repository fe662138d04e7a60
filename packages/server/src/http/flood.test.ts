/** A flood of one namespace over many connections: requests of another are worked on as soon as before. */
import { expect, test } from 'vitest';
import { serving } from './listening.contract.ts';
import { type ApiRequest, type ApiResponse, textResponse } from './message.ts';

function request(namespace: string, times = 1): string {
  const head = `POST /timers HTTP/1.1\r\nhost: localhost\r\ncarillon-namespace: ${namespace}\r\n`;
  return `${head}content-length: 0\r\n\r\n`.repeat(times);
}

/** On a busy machine. */
const patience = { timeout: 60_000 };

function namespaceOf({ headers }: ApiRequest): string {
  return String(headers['carillon-namespace']);
}

test('of requests that wait in line, each namespace has as many worked on as the other', async () => {
  const order: string[] = [];
  const handle = (asked: ApiRequest): ApiResponse => {
    order.push(namespaceOf(asked));
    // Longer than the share of clients in a turn.
    const endMs = performance.now() + 3;
    while (performance.now() < endMs);
    return textResponse('done');
  };
  await using at = await serving(handle);
  const good = await at.dial();
  good.send(request('good'));
  await good.until(/done$/);
  const bad = await Promise.all(Array.from({ length: 60 }, () => at.dial()));
  for (const client of bad) client.send(request('bad', 4));
  await expect.poll(() => order.length, patience).toBeGreaterThan(90);
  const before = order.length;
  good.send(request('good', 6));
  await good.until(/(done[^]*){7}$/);
  const worked = order.slice(before);
  const last = worked.lastIndexOf('good');
  // Requests that were worked on before the member read the first of these do not count.
  const meanwhile = worked.slice(worked.indexOf('good'), last);
  expect(meanwhile.filter((namespace) => namespace === 'bad').length).toBeLessThanOrEqual(16);
  for (const client of [good, ...bad]) client.socket.destroy();
});

test('requests of one namespace that take long leave a quarter of the room to others', async () => {
  const open: (() => void)[] = [];
  const handle = (asked: ApiRequest): ApiResponse | Promise<ApiResponse> => {
    if (namespaceOf(asked) === 'good') return Promise.resolve(textResponse('done'));
    return new Promise((resolve) => open.push(() => resolve(textResponse('late'))));
  };
  await using at = await serving(handle, { overrides: { 'limits.requestsInFlightMax': 40 } });
  const bad = await Promise.all(Array.from({ length: 10 }, () => at.dial()));
  for (const client of bad) client.send(request('bad', 10));
  await expect.poll(() => open.length, patience).toBe(30);
  const good = await at.dial();
  good.send(request('good'));
  await good.until(/200 OK[^]*done$/);
  for (const answer of open) answer();
  for (const client of [good, ...bad]) client.socket.destroy();
});
