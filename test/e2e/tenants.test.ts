/** One namespace does its worst at a real member; timers of another are accepted, come once and in time, and none fails. */
import { createServer, type Server } from 'node:net';
import { Carillon } from '@carillon/client';
import { afterEach, expect, test } from 'vitest';
import { type CliProcess, serve } from './cli-process.ts';
import { latenessAt, Receiver } from './receiver.ts';

/** Far above the lateness on a quiet machine, far below the delay of a place held by a silent receiver. */
const lateMsMax = 2000;
const rounds = 40;

const started: CliProcess[] = [];
const endings: (() => unknown)[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.kill('SIGKILL')));
  for (const end of endings.splice(0)) end();
});

/** Takes connections and says nothing. */
async function silentPort(): Promise<string> {
  const server: Server = createServer((socket) => socket.on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endings.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

type Act = (bad: Carillon, round: number, good: string) => Promise<unknown>;

const worst: Record<string, () => Promise<Act>> = {
  '2,000 recurring timers to a closed port': async () => {
    const uri = 'http://127.0.0.1:9/';
    const retry = { maxAttempts: 1 };
    const specs = Array.from({ length: 2000 }, () => ({ every: '1s', forever: true, uri, retry }));
    return (bad, round) => (round === 0 ? bad.setMany(specs) : Promise.resolve());
  },
  'time limits of a millisecond for the receiver of others': async () => (bad, _, uri) =>
    bad.setMany(Array.from({ length: 25 }, () => ({ in: '100ms', uri, timeout: 1 }))),
  'silent receivers at 70 ports': async () => {
    const uris = await Promise.all(Array.from({ length: 70 }, silentPort));
    return (bad, round) =>
      round < 8
        ? bad.setMany(uris.map((uri) => ({ in: '100ms', uri, timeout: '110s' })))
        : Promise.resolve();
  },
};

test.each(Object.keys(worst))(
  'one namespace with %s: pops of another come once, and none late by seconds',
  { timeout: 180_000 },
  async (name) => {
    const served = await serve(['--name', 'one', '--memory', '--log-level', 'warn']);
    started.push(served.process);
    const receiver = new Receiver();
    endings.push(() => receiver.close());
    const uri = await receiver.listen();
    const clientOf = (namespace: string): Carillon =>
      new Carillon({ members: [served.url], refresh: null, timeout: '60s', namespace });
    const [bad, good] = [clientOf('bad'), clientOf('good')];
    const act = await worst[name]?.();
    for (let round = 0; round < rounds; round++) {
      await act?.(bad, round, `${uri}/bad`);
      const specs = Array.from({ length: 10 }, (_, i) => ({
        in: '250ms',
        uri,
        opaque: `good ${round * 10 + i}`,
      }));
      const outcomes = await good.setMany(specs);
      expect(outcomes.filter(({ ok }) => !ok)).toEqual([]);
      await expect
        .poll(() => of(receiver).length, { timeout: 60_000, interval: 20 })
        .toBe((round + 1) * 10);
    }
    const pops = of(receiver);
    expect(new Set(pops.map(({ opaque }) => opaque)).size).toBe(rounds * 10);
    for (const { attempt } of pops) expect(attempt).toBe(1);
    console.log(`lateness p50 ${latenessAt(pops, 0.5)} ms, p99 ${latenessAt(pops, 0.99)} ms`);
    expect(latenessAt(pops, 0.99)).toBeLessThan(lateMsMax);
  },
);

function of(receiver: Receiver) {
  return receiver.callbacks.filter(({ opaque }) => opaque.startsWith('good'));
}
