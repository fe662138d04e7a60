/** A member that may have 256 descriptors, and ways to take them from it. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { CliProcess } from '../e2e/cli-process.ts';

const filesMax = 256;
const crowdCount = 400;

export interface Served {
  readonly folder: string;
  readonly member: CliProcess;
  readonly host: string;
  readonly port: string;
  /** Its one connection is open. */
  readonly agent: Agent;
}

export async function served(): Promise<Served> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-files-'));
  const args = ['serve', '--json', '--listen', '127.0.0.1:0', '--data', folder];
  const member = new CliProcess(args, {}, ['prlimit', `--nofile=${filesMax}:${filesMax}`]);
  const started = await member.line((line) => typeof line['url'] === 'string');
  const { hostname: host, port } = new URL(String(started['url']));
  const one = { folder, member, host, port, agent: new Agent({ keepAlive: true, maxSockets: 1 }) };
  await posted(one);
  return one;
}

/** Statuses of sets on the open connection, one a second. */
export async function setsMeanwhile(one: Served, seconds: number): Promise<unknown[]> {
  const statuses: unknown[] = [];
  for (let second = 0; second < seconds; second++) {
    statuses.push(await posted(one));
    await wait(1000);
  }
  return statuses;
}

export function crowdAt({ port, host }: Served): Promise<Socket[]> {
  return Promise.all(Array.from({ length: crowdCount }, () => joined(Number(port), host)));
}

/** `all`: fewer than it has open, so it gets no other. `none`: as many as at its start. */
export function take({ member }: Served, which: 'all' | 'none'): void {
  const soft = which === 'all' ? 8 : filesMax;
  execFileSync('prlimit', [`--pid=${member.pid}`, `--nofile=${soft}:${filesMax}`]);
}

/** Its exit code, after it has answered on a new connection and was asked to end. */
export async function endedWell({ member, host, port, agent }: Served): Promise<number | null> {
  const status = await answered(`http://${host}:${port}/healthz`);
  agent.destroy();
  const { code } = await member.kill('SIGTERM');
  return status === 200 ? code : null;
}

export function removed({ folder }: Served): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}

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
