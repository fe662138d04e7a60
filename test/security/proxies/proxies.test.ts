/**
 * Reverse proxies in front of a member, with connections that they keep and share between clients. Every answer is the
 * one to its request, the member reads no request that the proxy did not pass on, and a restart of the member confuses
 * neither.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attacks } from '../../../packages/server/src/http/smuggling.contract.ts';
import { toolForTests, tools } from '../../../scripts/debian.ts';
import { RealMember } from '../../e2e/support/real-member.ts';
import { seedCount, timerOf } from './asking.ts';
import { Load, sent } from './load.ts';
import { freePort, Proxy, proxyKinds } from './proxy.ts';
import { Relay } from './relay.ts';

const clientCount = 8;
const roundsOfClient = 14 * 17;
const roundsOfPipelining = 10;
const attacksAtOnce = 4;

interface Scene {
  readonly member: RealMember;
  readonly relay: Relay;
  readonly proxy: Proxy;
  readonly load: Load;
}

let folder = '';
let scene: Scene | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-behind-'));
});
afterEach(async () => {
  await scene?.proxy.stop();
  await scene?.proxy.remove();
  scene?.relay.stop();
  await scene?.member.kill();
  await rm(folder, { recursive: true, force: true });
});

async function begun(name: keyof typeof proxyKinds, program: string): Promise<Scene> {
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const args = ['--listen', address, '--data', folder, '--log-level', 'warn'];
  const member = new RealMember({ name: 'one', address, peer: '', args, via: [] });
  await member.start();
  const relay = await Relay.start(port);
  const proxy = await Proxy.start(program, proxyKinds[name], relay.port);
  scene = { member, relay, proxy, load: new Load(proxy.port) };
  for (let i = 0; i < seedCount; i++) {
    const body = timerOf(`seed-${i}`, `seed-${i}`);
    expect((await fetch(`${member.url}/timers`, { method: 'POST', body })).status).toBe(200);
  }
  return scene;
}

/** Opaques of all timers with the tag of the load, as the member itself lists them. */
async function opaques({ member }: Scene): Promise<string[]> {
  const found: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const answer = await fetch(`${member.url}/timers?tag=load&limit=500${from}`);
    const page = (await answer.json()) as Page;
    found.push(...page.timers.map(({ callback }) => callback.http.opaque));
    ({ cursor } = page);
  }
  return found.toSorted();
}

interface Page {
  readonly timers: readonly { callback: { http: { opaque: string } } }[];
  readonly cursor: string | null;
}

describe.each(Object.keys(proxyKinds) as (keyof typeof proxyKinds)[])('%s in front', (name) => {
  const program = toolForTests(tools[name]);

  test.skipIf(program === null)(
    'thousands of requests of all kinds: each answer is the one to its request, and the member reads each once',
    async () => {
      const at = await begun(name, program as string);
      const { load, relay } = at;
      await Promise.all([
        ...Array.from({ length: clientCount }, (_, i) => load.client(`c${i}`, roundsOfClient)),
        load.pipelining('p', roundsOfPipelining),
      ]);
      expect(load.wrong).toEqual([]);
      expect(await opaques(at)).toEqual(load.confirmed.toSorted());
      const { requests, refused, connections } = relay.seen();
      const marks = requests.map(({ headers }) => headers['x-request-id']);
      expect(new Set(marks).size).toBe(marks.length);
      expect(load.answered.filter((mark) => !marks.includes(mark))).toEqual([]);
      expect(refused).toEqual([]);
      expect(marks.length).toBeGreaterThan(2000);
      // Kept, and shared.
      expect(connections).toBeLessThan(marks.length / 5);
    },
  );

  test.skipIf(program === null)(
    'requests that hide another one: the member reads none that was not passed on, and clients on the same connections notice nothing',
    async () => {
      const { load, relay, proxy } = await begun(name, program as string);
      const left = [...attacks];
      const attacking = async (): Promise<void> => {
        for (let next = left.pop(); next !== undefined; next = left.pop())
          await sent(proxy.port, next.text, true);
      };
      await Promise.all([
        ...Array.from({ length: attacksAtOnce }, attacking),
        ...[0, 1].map((i) => load.client(`victim${i}`, roundsOfClient)),
      ]);
      expect(load.wrong).toEqual([]);
      const { requests, refused } = relay.seen();
      const isHidden = (text: string): boolean => text.includes('tag=hidden');
      // Some are written to the log only when the client's connection is closed.
      await expect
        .poll(() => proxy.passedOn().length, { timeout: 30_000 })
        .toBeGreaterThanOrEqual(requests.length + refused.length);
      const passedOn = proxy.passedOn();
      const read = requests.filter(({ query }) => isHidden(query));
      expect(read.length).toBeLessThanOrEqual(passedOn.filter(isHidden).length);
      console.log(
        `${name}: ${attacks.length} attacks, ${passedOn.length} passed on, ${requests.length} read`,
      );
    },
  );

  test.skipIf(program === null)(
    'a member that is restarted: every timer is set once, and answers belong to their requests',
    async () => {
      const at = await begun(name, program as string);
      const { load, member } = at;
      const setting = Promise.all([0, 1, 2, 3].map((i) => load.setSurely(`s${i}`, 150)));
      for (const count of [100, 250, 400]) {
        await expect
          .poll(() => load.confirmed.length, { timeout: 60_000, interval: 5 })
          .toBeGreaterThan(count);
        if (count === 250) await member.kill();
        else await member.stop();
        await member.start();
      }
      await setting;
      expect(load.wrong).toEqual([]);
      expect(await opaques(at)).toEqual(load.confirmed.toSorted());
    },
  );
});
