/** The launcher of a clone, `bin/carillon.js`: two processes that act as one. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { release } from './index.ts';

const launcher = join(import.meta.dirname, '../bin/carillon.js');
const { PATH, NODE_COMPILE_CACHE } = process.env;
const serveFlags = ['serve', '--memory', '--listen', '127.0.0.1:0', '--json'];

function launch(args: readonly string[]) {
  const child = spawn(process.execPath, [launcher, ...args], { env: { PATH, NODE_COMPILE_CACHE } });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  const ended = new Promise<{ code: number | null; out: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, out }));
  });
  return { child, ended, text: () => out };
}

/** The process that serves, a child of the launcher. */
async function serving(text: () => string): Promise<number> {
  return vi.waitUntil(() => Number(/"pid":(\d+)\}/.exec(text())?.[1] ?? 0), { timeout: 20_000 });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a command through the launcher ends by itself, with its output and its exit code', async () => {
  expect(await launch(['--version']).ended).toEqual({ code: 0, out: `${release}\n` });
  expect((await launch(['set', '10s']).ended).code).toBe(2);
});

test('kill -9 of the launcher ends the member', async () => {
  const { child, ended, text } = launch(serveFlags);
  const member = await serving(text);
  expect(member).not.toBe(child.pid);
  try {
    child.kill('SIGKILL');
    // The member holds the output of the launcher, so this is its end too.
    await ended;
    await vi.waitUntil(() => !isAlive(member), { timeout: 20_000 });
  } finally {
    if (isAlive(member)) process.kill(member, 'SIGKILL');
  }
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s to the launcher and the terminal ends the member tidily, with 0',
  async (signal) => {
    const { child, ended, text } = launch(serveFlags);
    const member = await serving(text);
    // Ctrl-C reaches both processes.
    if (signal === 'SIGINT') process.kill(member, signal);
    child.kill(signal);
    const { code } = await ended;
    expect(code).toBe(0);
    expect(text()).toContain('The member stops.');
  },
);
