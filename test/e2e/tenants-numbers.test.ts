/** Tenants of three real members, with a number key: the same ids and keys for both, and a member that dies. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newNumberKey, newToken, renderTokens, type Token, tokenDigest } from '@carillon/server';
import { afterEach, expect, test } from 'vitest';
import { Receiver } from './receiver.ts';
import { RealCluster } from './support/real-cluster.ts';

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
}, 60_000);

/** A token and the entry for the tokens file. */
function tokenFor(namespace: string, scope: Token['scope']): { text: string; token: Token } {
  const { id, text } = newToken(randomBytes);
  const created = new Date().toISOString();
  const about = { name: namespace, scope, namespace, created, until: null };
  return { text, token: { id, ...about, digest: tokenDigest(text) } };
}

/** From now on requests of this process without a token carry this one: helpers of the tests know of none. */
function carry(text: string): void {
  const plain = globalThis.fetch;
  endings.push(() => {
    globalThis.fetch = plain;
  });
  globalThis.fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${text}`);
    return plain(input, { ...init, headers });
  };
}

const perWay = 10;

test('each tenant has its timers under the same ids and keys, and they pop as its own when a member dies', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-numbers-'));
  endings.push(() => rmSync(folder, { recursive: true }));
  const operator = tokenFor('*', 'admin');
  const tenants = ['team-a', 'team-b', 'default'].map((name) => ({
    name,
    ...tokenFor(name, 'write'),
  }));
  const tokens = [operator, ...tenants].map(({ token }) => token);
  const file = join(folder, 'tokens.json');
  writeFileSync(file, renderTokens({ tokens, numberKey: newNumberKey(randomBytes) }));
  carry(operator.text);
  const cluster = await RealCluster.start({
    names: ['n0', 'n1', 'n2'],
    flags: ['--auth-tokens', file],
  });
  endings.push(() => cluster.end());
  const receiver = new Receiver();
  endings.push(() => receiver.close());
  const uri = await receiver.listen();
  const urls = [...cluster.members.values()].map(({ url }) => url);
  let setCount = 0;
  const set = async (text: string, opaque: string, where: { path: string; key?: string }) => {
    const { path, key } = where;
    const via = urls[setCount++ % urls.length];
    const answer = await fetch(`${via}${path}`, {
      method: key === undefined ? 'PUT' : 'POST',
      headers: {
        authorization: `Bearer ${text}`,
        ...(key !== undefined && { 'idempotency-key': key }),
      },
      body: JSON.stringify({ timing: { interval: 8 }, callback: { http: { uri, opaque } } }),
    });
    return { status: answer.status, id: (answer.headers.get('location') ?? '').slice(8) };
  };
  const ids = new Map<string, string>();
  for (const { name, text } of tenants) {
    for (let i = 1; i <= perWay; i++) {
      const number = i.toString(16).padStart(16, '0');
      const chosen = await set(text, `${name} chosen ${i}`, { path: `/timers/${number}-2` });
      const keyed = await set(text, `${name} keyed ${i}`, { path: '/timers', key: `key-${i}` });
      expect([chosen.status, keyed.status]).toEqual([200, 200]);
      expect(chosen.id.slice(0, 16)).toBe(number);
      ids.set(`${name} chosen ${i}`, number).set(`${name} keyed ${i}`, keyed.id.slice(0, 16));
    }
  }
  await cluster.member('n1').kill();
  await expect
    .poll(() => new Set(receiver.callbacks.map(({ opaque }) => opaque)).size, { timeout: 60_000 })
    .toBe(ids.size);
  for (const { opaque, id } of receiver.callbacks) expect(id.slice(0, 16)).toBe(ids.get(opaque));
});
