import type { LogFields } from '@carillon/core';
/** Members with different number keys do not talk: real sockets on loopback. */
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { afterEach, expect, test } from 'vitest';
import { TcpNetwork } from './tcp-network.ts';

let opened: TcpNetwork[] = [];
let warnings: string[] = [];
afterEach(async () => {
  for (const network of opened) await network.close();
  opened = [];
  warnings = [];
});

function open(numbering?: number): TcpNetwork {
  const quiet = (): void => {};
  const warn = (_: string, fields: LogFields): void => {
    warnings.push(String(fields['why'] ?? fields['reason']));
  };
  const network = new TcpNetwork({
    clock: new SystemClock(),
    random: new SystemRandom(),
    log: { debug: quiet, info: quiet, warn, error: quiet },
    listen: { host: '127.0.0.1', port: 0 },
    release: '1.2.3',
    ...(numbering !== undefined && { numbering }),
  });
  opened.push(network);
  return network;
}

function ask(caller: TcpNetwork, address: string): Promise<Uint8Array | null> {
  return new Promise((resolve) =>
    caller.call(address, Uint8Array.of(1), { limitMs: 2000 }, resolve),
  );
}

test.each([
  ['another key', 8],
  ['no key', undefined],
])('a caller with %s is refused, and both sides say so and count it', async (_, numbering) => {
  const callee = open(7);
  await callee.listen((frame, reply) => reply(frame));
  const caller = open(numbering);
  expect(await ask(caller, callee.address)).toBeNull();
  expect(warnings).toHaveLength(2);
  for (const why of warnings) expect(why).toContain('give every member the same tokens file');
  for (const { refusedCounts } of [caller, callee]) {
    expect(refusedCounts.numbers).toBeGreaterThan(0);
  }
  expect([...((await ask(open(7), callee.address)) ?? [])]).toEqual([1]);
});
