/** A member that has no descriptor left goes on with what it has, and serves again when the crowd leaves. */
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CliProcess } from '../e2e/cli-process.ts';

const filesMax = 256;
const crowdCount = 400;

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-files-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

// Only Linux has prlimit.
test.runIf(process.platform === 'linux')(
  'with 256 descriptors and a crowd: the process lives, and serves again when the crowd leaves',
  async () => {
    const args = ['serve', '--json', '--listen', '127.0.0.1:0', '--data', folder];
    const member = new CliProcess(args, {}, ['prlimit', `--nofile=${filesMax}:${filesMax}`]);
    const started = await member.line((line) => typeof line['url'] === 'string');
    const { hostname, port } = new URL(String(started['url']));
    const crowd = await Promise.all(
      Array.from({ length: crowdCount }, () => joined(Number(port), hostname)),
    );
    // The addresses of the machine are asked for every ten seconds: once at least without a descriptor.
    await wait(11_000);
    for (const socket of crowd) socket.destroy();
    expect(await answered(`http://${hostname}:${port}/healthz`)).toBe(200);
    const ended = await member.kill('SIGTERM');
    expect(ended.code).toBe(0);
  },
);

/** Whether it is let in or not. */
function joined(port: number, host: string): Promise<Socket> {
  const socket = connect({ port, host });
  return new Promise((resolve) => {
    for (const event of ['connect', 'error', 'close']) socket.on(event, () => resolve(socket));
  });
}

async function answered(url: string): Promise<number> {
  for (let tries = 0; ; tries++) {
    try {
      return (await fetch(url, { signal: AbortSignal.timeout(2000) })).status;
    } catch (error) {
      if (tries === 40) throw error;
      await wait(250);
    }
  }
}
