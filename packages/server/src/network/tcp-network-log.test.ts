/** Lines in the log about peers that come and go. */
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { expect, test } from 'vitest';
import { TcpNetwork } from './tcp-network.ts';

test('a peer that cannot be reached is told once, although it has two connections', async () => {
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const network = new TcpNetwork({
    clock: new SystemClock(),
    random: new SystemRandom(),
    log: {
      debug: write('debug'),
      info: write('info'),
      warn: write('warn'),
      error: write('error'),
    },
    listen: { host: '127.0.0.1', port: 0 },
    release: '1.2.3',
  });
  for (const isHeavy of [false, true]) {
    await new Promise((resolve) => {
      network.call('127.0.0.1:1', Uint8Array.of(1), { limitMs: 10_000, isHeavy }, resolve);
    });
  }
  await network.close();
  expect(lines).toEqual(['warn A peer cannot be reached.', 'debug A peer cannot be reached.']);
});
