/** The number key in the tokens file of a real member, and its effect between members: real sockets on loopback. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { renderTokens } from '../access/tokens-file.ts';
import { configOf } from '../config/config.ts';
import { testToken } from '../testing/tokens.ts';
import { openResources, type Resources } from './resources.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-resources-'));
let opened: Resources[] = [];
afterEach(async () => {
  for (const resources of opened) {
    await resources.peers.network?.close();
    await resources.close();
  }
  opened = [];
  rmSync(folder, { recursive: true });
});

async function open(name: string, numberKey: string): Promise<Resources> {
  const tokens = join(folder, `${name}.json`);
  writeFileSync(tokens, renderTokens({ tokens: [testToken(1).token], numberKey }));
  const options = { data: join(folder, name), 'auth.tokens': tokens, logLevel: 'silent' };
  const listen = '127.0.0.1:0';
  const identity = { name, listen, address: listen, peerListen: listen, peer: listen };
  const resources = await openResources(configOf(new Map(Object.entries(options))), identity);
  opened.push(resources);
  await resources.peers.network?.listen((frame, reply) => reply(frame));
  return resources;
}

function ask(from: Resources, to: Resources): Promise<boolean> {
  const address = to.peers.network?.address ?? '';
  return new Promise((resolve) => {
    const done = (answer: Uint8Array | null): void => resolve(answer !== null);
    from.peers.network?.call(address, Uint8Array.of(1), { limitMs: 2000 }, done);
  });
}

test('members talk when their tokens files have the same number key, and only then', async () => {
  const [one, other] = ['ab'.repeat(32), 'cd'.repeat(32)] as const;
  const [first, second, third] = [
    await open('a', one),
    await open('b', one),
    await open('c', other),
  ];
  expect(await ask(first, second)).toBe(true);
  expect(await ask(first, third)).toBe(false);
  expect(await ask(third, first)).toBe(false);
  expect(third.peers.network?.refusedCounts.numbers).toBeGreaterThan(0);
});
