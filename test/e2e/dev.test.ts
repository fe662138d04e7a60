/** `carillon dev`: a cluster of real processes, one of which is killed. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { Carillon } from '@carillon/client';
import { afterEach, expect, test } from 'vitest';
import { CliProcess, type JsonLine } from './cli-process.ts';

const started: CliProcess[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((child) => child.kill('SIGTERM')));
});

const isMember = (line: JsonLine): boolean => line['event'] === 'member';
const isPop = (line: JsonLine): boolean => line['event'] === 'pop';

test('three members: one is killed, every timer pops, once, by twice its time', async () => {
  // Below the ports that the system hands out by itself.
  const port = 12_000 + (process.pid % 20_000);
  const dev = new CliProcess([
    'dev',
    '--members',
    '3',
    '--memory',
    '--json',
    '--port',
    String(port),
    '--receiver-port',
    '0',
  ]);
  started.push(dev);
  const { url: uri } = await dev.line((line) => line['event'] === 'receiver');
  await dev.line((line) => isMember(line) && line['name'] === 'n2');
  const members = dev.json().filter(isMember);
  expect(members.map(({ name }) => name)).toEqual(['n0', 'n1', 'n2']);

  const client = new Carillon({ members: members.map(({ url }) => String(url)) });
  const count = 200;
  const intervalMs = 4000;
  const outcomes = await client.setMany(
    Array.from({ length: count }, (_, i) => ({
      in: intervalMs,
      uri: String(uri),
      opaque: String(i),
    })),
  );
  expect(outcomes.filter((one) => one.ok && one.copies?.have === 2)).toHaveLength(count);
  process.kill(Number(members[0]?.['pid']), 'SIGKILL');
  await dev.line((line) => String(line['line']).includes('ended (SIGKILL)'));

  // Sets go on at the members that are left.
  await client.set({ in: 2 * intervalMs + 1000, uri: String(uri), opaque: 'last' });
  await dev.line((line) => line['opaque'] === 'last');
  const pops = dev.json().filter((line) => isPop(line) && line['opaque'] !== 'last');
  expect(new Set(pops.map(({ opaque }) => opaque)).size).toBe(count);
  expect(pops).toHaveLength(count);
  for (const { 'lateness-ms': latenessMs } of pops) {
    expect(latenessMs).toBeGreaterThanOrEqual(0);
    expect(latenessMs).toBeLessThan(intervalMs);
  }
  expect(await dev.kill('SIGINT')).toEqual({ code: 0, signal: null });
});

// Below the ports that the system hands out by itself, and apart from the ports of the test above.
const otherPort = 12_500 + (process.pid % 19_000);
const few = ['--members', '2', '--memory', '--receiver-port', '0', '--port', String(otherPort)];

/** A port at which nothing listens. */
async function refusingPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('a member that was killed starts again when its name is typed', async () => {
  const dev = new CliProcess(['dev', '--json', ...few], {}, [], { input: 'pipe' });
  started.push(dev);
  const { pid } = await dev.line((line) => isMember(line) && line['name'] === 'n1');
  process.kill(Number(pid), 'SIGKILL');
  await dev.line((line) => String(line['line']).includes('Type n1 and Enter'));
  dev.type('n1\n');
  const again = await dev.line(
    (line) => isMember(line) && line['pid'] !== pid && line['name'] === 'n1',
  );
  const { url } = again;
  const answers = async (): Promise<boolean> =>
    (await fetch(`${String(url)}/readyz`).catch(() => null))?.ok === true;
  while (!(await answers()));
  // Members that are not there yet, while all start, are no news.
  const before = dev.json().slice(0, dev.json().findIndex(isMember));
  expect(before.filter((line) => String(line['line']).includes('cannot be reached'))).toEqual([]);
  expect(await dev.kill('SIGINT')).toEqual({ code: 0, signal: null });
});

test('a receiver that fails is one line, not one of each member', async () => {
  const refusing = await refusingPort();
  const dev = new CliProcess(['dev', '--json', ...few]);
  started.push(dev);
  await dev.line((line) => isMember(line) && line['name'] === 'n1');
  const members = dev.json().filter(isMember);
  const client = new Carillon({ members: members.map(({ url }) => String(url)) });
  const uri = `http://127.0.0.1:${refusing}/`;
  const retry = { maxAttempts: 1 };
  await client.setMany(Array.from({ length: 40 }, () => ({ in: 100, uri, retry })));
  const isFailing = (line: JsonLine): boolean =>
    String(line['line']).includes(`receiver=http://127.0.0.1:${refusing}`);
  await dev.line(isFailing);
  // Every member has made callbacks that were refused.
  const isRefused = async (url: unknown): Promise<boolean> => {
    const text = await (await fetch(`${String(url)}/metrics`)).text();
    return /carillon_callback_answers_total\{[^}]*"refused"[^}]*\} [1-9]/.test(text);
  };
  const all = async () => Promise.all(members.map(({ url }) => isRefused(url)));
  await expect.poll(all, { timeout: 30_000 }).toEqual([true, true]);
  // All lines of all members have come when the program has ended.
  await dev.kill('SIGINT');
  expect(dev.json().filter(isFailing)).toHaveLength(1);
});

test('a port that is taken is one sentence, and nothing starts', async () => {
  const taken = createServer().listen(otherPort + 1, '127.0.0.1');
  await once(taken, 'listening');
  try {
    const dev = new CliProcess(['dev', ...few]);
    started.push(dev);
    expect(await dev.ended).toEqual({ code: 1, signal: null });
    expect(dev.lines).toEqual([]);
    expect(dev.errors).toEqual([
      `Port ${otherPort + 1} of 127.0.0.1 is taken, perhaps by members that run already; --port N takes N to N + 1, and the ports 100 above.`,
    ]);
  } finally {
    taken.close();
  }
});
