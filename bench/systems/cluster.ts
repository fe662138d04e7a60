/** Several members of Carillon on this machine that know each other from a file. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ServerProcess } from '../support/server-process.ts';
import { freePort } from './server.ts';
import type { Running, StartOptions } from './system.ts';

const factor = 2;
const acquaintedPollMs = 20;
const hellosMs = 2500;

export interface RunningCluster extends Running {
  /** Ends a member with SIGKILL. */
  kill(index: number): Promise<void>;
}

export async function startCluster(
  { folder, uri }: StartOptions,
  memberCount: number,
): Promise<RunningCluster> {
  const described = await describe(memberCount);
  const file = join(folder, 'members.json');
  await writeFile(file, JSON.stringify({ members: described }));
  const members = await allOrNone(
    described.map(async ({ name }) => {
      const data = join(folder, name);
      await mkdir(data);
      return ServerProcess.member(['--name', name, '--members', file, '--data', data]);
    }),
  );
  const urls = members.map(({ url }) => url.href);
  await acquainted(urls);
  return {
    pids: () => members.map(({ pid }) => pid),
    setter: { kind: 'carillon', urls, uri, factor: Math.min(factor, memberCount) },
    work: async () => {},
    settle: async () => {},
    pending: async () => Number.NaN,
    restart: null,
    kill: async (index) => {
      const [gone] = members.splice(index, 1);
      await gone?.end('SIGKILL');
    },
    stop: async () => {
      await Promise.all(members.map((member) => member.end('SIGKILL')));
    },
  };
}

/** Each has heard of each other, and hellos have gone back and forth: they know how quick a frame can be. */
async function acquainted(urls: readonly string[]): Promise<void> {
  for (const url of urls) while (!(await knowsAll(url))) await sleep(acquaintedPollMs);
  await sleep(hellosMs);
}

async function knowsAll(url: string): Promise<boolean> {
  const answer = await fetch(new URL('/cluster', url));
  const { members } = (await answer.json()) as { readonly members: readonly { load: unknown }[] };
  return members.every(({ load }) => load !== null);
}

/** When one does not start, the others do not stay behind. */
async function allOrNone(starting: readonly Promise<ServerProcess>[]): Promise<ServerProcess[]> {
  const outcomes = await Promise.allSettled(starting);
  const members = outcomes.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
  const failure = outcomes.find((one) => one.status === 'rejected');
  if (failure === undefined) return members;
  await Promise.all(members.map((member) => member.end('SIGKILL')));
  throw failure.reason;
}

async function describe(memberCount: number) {
  const described = [];
  const ports = await Promise.all(Array.from({ length: memberCount * 2 }, () => freePort()));
  for (let i = 0; i < memberCount; i++) {
    const [port, peerPort] = ports.splice(0, 2);
    described.push({ name: `n${i}`, address: `127.0.0.1:${port}`, peer: `127.0.0.1:${peerPort}` });
  }
  return described;
}
