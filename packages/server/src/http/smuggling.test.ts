/**
 * Over a real socket: every attack gets its status and a closed connection, and the hidden request reaches no route.
 */
import { expect, test } from 'vitest';
import { attacks } from './smuggling.contract.ts';
import { listening } from './listening.contract.ts';

test('there are enough of them', () => {
  expect(attacks.length).toBeGreaterThanOrEqual(60);
  expect(new Set(attacks.map(({ name }) => name)).size).toBe(attacks.length);
});

test.each(attacks)('$name: $status, closed, and nothing hidden is done', async (attack) => {
  await using at = await listening();
  const client = await at.dial();
  client.send(Buffer.from(attack.text, 'latin1'));
  await client.closed;
  expect(client.error).toBeNull();
  expect(client.text.match(/^HTTP\/1\.1 \d+/gm)).toEqual([`HTTP/1.1 ${attack.status}`]);
  expect(client.text).toMatch(/^connection: close\r$/m);
  expect(at.api.service.calls).toEqual([]);
  expect(at.api.service.sets).toEqual([]);
  expect(at.api.metrics.httpRequests.sum()).toBe(0);
});
