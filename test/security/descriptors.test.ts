/** A member without a free descriptor goes on with the files and connections that it has open. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { CliProcess, serve } from '../e2e/cli-process.ts';

const filesMax = 256;
const crowdCount = 400;

const folders: string[] = [];
afterAll(async () => {
  await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
});

interface Served {
  readonly folder: string;
  readonly member: CliProcess;
  readonly host: string;
  readonly port: string;
  /** Its one connection is open. */
  readonly agent: Agent;
}

async function served(): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-files-'));
  folders.push(folder);
  const args = ['serve', '--json', '--listen', '127.0.0.1:0', '--data', folder];
  const member = new CliProcess(args, {}, ['prlimit', `--nofile=${filesMax}:${filesMax}`]);
  const started = await member.line((line) => typeof line['url'] === 'string');
  const { hostname: host, port } = new URL(String(started['url']));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const one = { folder, member, host, port, agent };
  expect(await posted(one)).toBe(200);
  return one;
}

/** Sets on the open connection, for longer than anything that a member does from time to time waits: ten seconds. */
async function setMeanwhile(one: Served): Promise<void> {
  const statuses: unknown[] = [];
  for (let second = 0; second < 11; second++) {
    statuses.push(await posted(one));
    await wait(1000);
  }
  expect(statuses).toEqual(Array(11).fill(200));
}

async function servesAgain({ member, host, port, agent }: Served): Promise<void> {
  expect(await answered(`http://${host}:${port}/healthz`)).toBe(200);
  agent.destroy();
  expect((await member.kill('SIGTERM')).code).toBe(0);
}

// Only Linux has prlimit.
describe.runIf(process.platform === 'linux')('with 256 descriptors', { concurrent: true }, () => {
  test('and a crowd: the process lives, and serves again when the crowd leaves', async () => {
    const one = await served();
    const crowd = await Promise.all(
      Array.from({ length: crowdCount }, () => joined(Number(one.port), one.host)),
    );
    await setMeanwhile(one);
    for (const socket of crowd) socket.destroy();
    await servesAgain(one);
  });

  test('all of them taken: sets of open connections are confirmed, and nothing is taken for damaged', async () => {
    const one = await served();
    const limit = (soft: number): Buffer =>
      execFileSync('prlimit', [`--pid=${one.member.pid}`, `--nofile=${soft}:${filesMax}`]);
    // Fewer than it has open: it gets no other.
    limit(8);
    await setMeanwhile(one);
    limit(filesMax);
    await servesAgain(one);
    const again = await serve(['--data', one.folder]);
    const answer = await fetch(`${again.url}/cluster`);
    expect(await answer.json()).toMatchObject({ damage: null });
    expect(await (await fetch(`${again.url}/metrics`)).text()).toContain(
      'carillon_timers{state="pending"} 12\n',
    );
    await again.process.kill('SIGKILL');
  });
});

const timer = JSON.stringify({
  timing: { interval: 3600 },
  callback: { http: { uri: 'http://127.0.0.1:9/', opaque: 'x' } },
});

/** The status of a set on the open connection. */
function posted({ host, port, agent }: Served): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': timer.length };
    const asked = request(
      { host, port, agent, method: 'POST', path: '/timers', headers },
      (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode));
      },
    );
    asked.on('error', reject).end(timer);
  });
}

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
