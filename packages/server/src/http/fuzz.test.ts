/** Any bytes from a client: no 5xx, no bug, no crash, and every request that is answered 2xx was understood. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { body, headers, method, path, query, raw, timer } from './hostile.contract.ts';
import { listening } from './listening.contract.ts';
import { testApi } from '../api/stand-in.contract.ts';

test('no request makes the router answer 5xx or meet a bug', async () => {
  const { router, service, bugs } = testApi();
  await fc.assert(
    fc.asyncProperty(
      fc.record({ method, path, query, headers, body }, { noNullPrototype: true }),
      async (request) => {
        const before = service.sets.length + service.calls.length;
        const response = await router.handle(request);
        expect(bugs).toEqual([]);
        expect(response.status).toBeGreaterThanOrEqual(200);
        expect(response.status).toBeLessThan(500);
        if (response.status === 400) {
          expect(service.sets.length + service.calls.length).toBe(before);
        }
        expect(response.headers.length % 2).toBe(0);
        for (const text of response.headers) expect(text).toMatch(/^[\t\x20-\x7e]*$/);
      },
    ),
    { numRuns: 1500 },
  );
});

test('no timer makes the parser meet a bug, and accepted values are within bounds', async () => {
  const { ask, service, bugs } = testApi();
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(timer, async (given) => {
      service.sets.length = 0;
      const { status } = await ask('POST', '/timers', { body: given });
      expect(bugs).toEqual([]);
      expect([200, 400]).toContain(status);
      expect(service.sets.length).toBe(status === 200 ? 1 : 0);
      const definition = service.sets[0]?.definition;
      if (definition === undefined) return;
      taken++;
      expect(URL.canParse(definition.uri)).toBe(true);
      expect(definition.opaque.isWellFormed()).toBe(true);
      if (definition.timing.kind === 'interval') {
        expect(Number.isInteger(definition.timing.intervalMs)).toBe(true);
      }
    }),
    { numRuns: 1500 },
  );
  // Without any accepted input the property above would prove nothing.
  expect(taken).toBeGreaterThan(150);
});

test('no bytes make the listener answer 5xx, crash or keep a connection for ever', async () => {
  await using at = await listening({
    'limits.headersTimeoutMs': 50,
    'limits.requestTimeoutMs': 50,
  });
  const once = async (bytes: Buffer): Promise<string> => {
    const client = await at.dial();
    client.send(bytes);
    client.socket.end();
    await client.closed;
    return client.text;
  };
  await fc.assert(
    fc.asyncProperty(fc.array(raw, { minLength: 1, maxLength: 8 }), async (all) => {
      for (const text of await Promise.all(all.map(once))) {
        expect(text).not.toMatch(/^HTTP\/1\.1 5/m);
      }
    }),
    { numRuns: 30 },
  );
  expect(at.api.bugs).toEqual([]);
  expect((await fetch(`${at.url}/ping`)).status).toBe(200);
});
