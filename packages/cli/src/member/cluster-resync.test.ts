/** `cluster resync`: that every member is asked itself, and that its answer is waited for. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carillon } from '@carillon/client';
import { afterEach, describe, expect, test } from 'vitest';
import { release } from '../index.ts';
import { run } from '../run.ts';
import { realMember } from '../testing/real-member.ts';
import { type Answer, type Asked, fakeMember, recordingIo } from '../testing/world.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function member(script: (asked: Asked) => Answer) {
  const made = await fakeMember(script);
  closing.push(() => made.close());
  return made;
}

async function resync(url: string, ...args: string[]) {
  const io = recordingIo({ CARILLON_SERVER: url });
  const code = await run(['cluster', 'resync', ...args], io, release);
  return { code, out: io.outLines, err: io.errLines };
}

function view(resyncing: object, ...members: object[]): Answer {
  return { body: { members, resync: resyncing, repair: {} } };
}

const idle = { running: false, checked: 4, total: 4, moved: 1 };
const running = { running: true, checked: 2, total: 4, moved: 0 };
const posted = { method: 'POST', path: '/cluster/resync' };

describe('carillon cluster resync', () => {
  test('asks every member itself and waits until all are done', async () => {
    let polls = 0;
    const n1 = await member(() => view(polls++ < 3 ? running : idle));
    const n0 = await member(() =>
      view(
        idle,
        { name: 'n0', self: true },
        { name: 'n1', address: n1.url.slice('http://'.length) },
      ),
    );
    const { code, out, err } = await resync(n0.url);
    expect([code, err]).toEqual([0, []]);
    expect(out).toEqual([
      'n0 has checked 4 timers and moved 1.',
      'n1 has checked 4 timers and moved 1.',
    ]);
    for (const { asked } of [n0, n1]) {
      expect(asked.filter(({ method }) => method === 'POST')).toMatchObject([posted]);
    }
  });

  test('a name asks only that member; --no-wait does not wait', async () => {
    const n1 = await member(() => view(running));
    const n0 = await member(() =>
      view(idle, { name: 'n0', self: true }, { name: 'n1', address: n1.url.slice(7) }),
    );
    const { code, out } = await resync(n0.url, 'n1', '--no-wait');
    expect([code, out]).toEqual([0, ['n1 looks at its 4 timers.']]);
    expect(n0.asked.some(({ method }) => method === 'POST')).toBe(false);
    expect(n1.asked[0]).toMatchObject(posted);
  });

  test('a member that does not answer, or is not done in time, exits 1', async () => {
    const n0 = await member(() =>
      view(running, { name: 'n0', self: true }, { name: 'n1', address: '127.0.0.1:1' }),
    );
    const { code, err } = await resync(n0.url, '--limit', '1ms');
    expect(code).toBe(1);
    expect(err).toEqual([
      'n0 has checked 2 of 4 timers after the time to wait; it goes on.',
      'n1 does not answer.',
    ]);
    const asJson = await resync(n0.url, '--limit', '1ms', '--json');
    expect(asJson.out.map((text) => JSON.parse(text) as object)).toEqual([
      { name: 'n0', answered: true, ...running },
      { name: 'n1', answered: false },
    ]);
  });

  test('a member that does not exist is wrong usage', async () => {
    const n0 = await member(() => view(idle, { name: 'n0', self: true }));
    const { code, err } = await resync(n0.url, 'n7');
    expect([code, err]).toEqual([
      2,
      ['carillon cluster: There is no member "n7"; the members are n0.'],
    ]);
  });

  test('two real members look at every timer they hold', async () => {
    const urls = await twoMembers();
    const clients = urls.map((url) => new Carillon({ members: [url], refresh: null }));
    const held = () =>
      Promise.all(
        clients.map(async (client) => {
          const { members } = await client.cluster();
          return members.find(({ self }) => self)?.timers;
        }),
      );
    const specs = Array.from({ length: 20 }, () => ({ in: '1h', uri: 'http://127.0.0.1:9/' }));
    await clients[0]?.setMany(specs);
    // Just started, they may have met only after the set.
    await expect.poll(held, { timeout: 20_000 }).toEqual([20, 20]);
    const { code, out } = await resync(urls[0] ?? '');
    expect(code).toBe(0);
    expect(out).toEqual([
      expect.stringMatching(/^n0 has checked 20 timers and moved \d+\.$/),
      expect.stringMatching(/^n1 has checked 20 timers and moved \d+\.$/),
    ]);
  }, 30_000);
});

async function twoMembers(): Promise<string[]> {
  const [a, b, c, d] = await freePorts(4);
  const folder = mkdtempSync(join(tmpdir(), 'carillon-cli-'));
  closing.push(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'members.json');
  const members = [
    { name: 'n0', address: `127.0.0.1:${a}`, peer: `127.0.0.1:${b}` },
    { name: 'n1', address: `127.0.0.1:${c}`, peer: `127.0.0.1:${d}` },
  ];
  writeFileSync(file, JSON.stringify({ members }));
  for (const { name, address } of members) {
    const made = await realMember({ name, listen: address, 'cluster-members-file': file });
    closing.push(() => made.stop());
  }
  return members.map(({ address }) => `http://${address}`);
}

/** All held at once, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  await Promise.all(
    servers.map((server) => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))),
  );
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
