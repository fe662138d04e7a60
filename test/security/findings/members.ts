/** Attacks on members as processes: findings 2, 4, 6 and 7. */
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { serve } from '../../e2e/cli-process.ts';
import { largeTimers } from '../../e2e/support/large-timers.ts';
import {
  factsOf,
  grownBytesMax as tenantBytesMax,
  lateMsMax,
  statusAfter,
  tenantRun,
  unharmed,
  worst,
} from '../../e2e/support/tenants.ts';
import { readProcess } from '../../soak/proc.ts';
import { endedWell, removed, served, setsMeanwhile, take } from '../out-of-descriptors.ts';
import type { Finding } from './finding.ts';

/** `before`: the figure of the time when nothing was divided among namespaces. */
function tenant(name: string, before: string): Finding {
  return {
    number: 2,
    attack: `one namespace with ${name}`,
    before,
    limit:
      'no set of another refused, no pop repeated, p99 within 2 × or 50 ms, beside time in line for a processor; 256 MiB more memory',
    run: async () => {
      const result = await tenantRun(name, { quietMs: 10_000, attackedMs: 60_000 });
      const { quietP99Ms, attackedP99Ms, waitedMs, refusedSets, repeated, pops, letters } = result;
      const isLate = attackedP99Ms > lateMsMax(result);
      const busy = waitedMs > 10 ? ` (busy machine: ${Math.round(waitedMs)} ms in line)` : '';
      const { bad } = result.statuses;
      return {
        now:
          `60 s; of another namespace: ${refusedSets} sets refused, ${repeated} of ${pops} pops repeated, ` +
          `p99 ${quietP99Ms} → ${attackedP99Ms} ms${busy}; ${letters} dead letters, ` +
          `${result.grownBytes >> 20} MiB more memory, recurring sets of its own: ${bad}`,
        holds:
          isDeepStrictEqual(factsOf(result), unharmed) &&
          bad === statusAfter(name) &&
          !isLate &&
          result.grownBytes <= tenantBytesMax,
      };
    },
  };
}

const beforehand: Readonly<Record<string, string>> = {
  '2,000 recurring timers to a closed port': '100,000 letters in 15 s, sets of all are 429',
  'timers of 16 to 64 KiB every 100 ms to a receiver that says 410, and a letter box of 500':
    'letters grow to 453,855, memory by 30 MB/s',
  'timers that it sets and cancels without end, at a member of 15,000 records':
    'sets of all are 429',
  'time limits of a millisecond for the receiver of others':
    '918 of 1,000 pops of others die untried',
  'silent receivers at 70 ports': 'pops of others 117 s late',
};
const tenants: readonly Finding[] = worst.map((name) => tenant(name, beforehand[name] ?? ''));

const large = 'x'.repeat(64 * 1024);
const listedCount = 400;
const silentReaders = 20;
const grownBytesMax = 384 * 1024 * 1024;

/** Sends the text and reads nothing. */
async function reading(port: number, text: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1' });
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.pause();
  socket.on('error', () => undefined);
  socket.write(text);
  return socket;
}

async function setLarge(url: string): Promise<void> {
  const timer = { timing: { interval: 3600 }, callback: { http: { uri: url, opaque: large } } };
  for (let i = 0; i < listedCount / 50; i++) {
    const body = JSON.stringify(Array.from({ length: 50 }, () => timer));
    const answer = await fetch(`${url}/timers/batch`, { method: 'POST', body });
    await answer.arrayBuffer();
  }
}

const unread: Finding = {
  number: 4,
  attack: `${silentReaders} connections ask for ${listedCount} timers of 64 KiB, 32 times each, and do not read`,
  before: '3.1 GB',
  limit: `${grownBytesMax >> 20} MiB more memory`,
  run: async () => {
    const one = await serve(['--name', 'one', '--memory', '--log-level', 'warn']);
    const rss = (): number => readProcess(one.process.pid)?.rssBytes ?? 0;
    await setLarge(one.url);
    const before = rss();
    const text = 'GET /timers?limit=1000 HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(32);
    const port = Number(new URL(one.url).port);
    const sockets = await Promise.all(
      Array.from({ length: silentReaders }, () => reading(port, text)),
    );
    let most = 0;
    for (let i = 0; i < 50; i++) {
      await wait(100);
      most = Math.max(most, rss() - before);
    }
    for (const socket of sockets) socket.destroy();
    await one.process.kill('SIGKILL');
    return { now: `${Math.round(most / 2 ** 20)} MiB more memory`, holds: most <= grownBytesMax };
  },
};

const descriptors: Finding = {
  number: 6,
  attack: 'every descriptor of the process is taken for 11 s',
  before: 'the process ends',
  limit: 'the process lives, sets on open connections are confirmed',
  run: async () => {
    const one = await served();
    take(one, 'all');
    const statuses = await setsMeanwhile(one, 11);
    take(one, 'none');
    const code = await endedWell(one);
    await removed(one);
    const confirmed = statuses.filter((status) => status === 200).length;
    const now = `${confirmed} of ${statuses.length} sets confirmed; serves again, exit code ${code}`;
    return { now, holds: confirmed === statuses.length && code === 0 };
  },
};

const timerCount = 200;

const clusters: Finding = {
  number: 7,
  attack: `${timerCount} timers of 64 KiB in three members, listed again and again and exported while they pop`,
  before: '951 of 1,320 listed, 84 of 1,220 pops twice, 3,890 of 4,055 sets with 1/2 copies',
  limit: 'all listed, none twice, all with 2/2 copies',
  run: async () => {
    const pages = [100, 1000, 1000];
    const result = await largeTimers({ timers: timerCount, times: 4, intervalSeconds: 8, pages });
    const { copies, written, pops, repeated } = result;
    const listed = [...result.listed, ...Object.values(written)];
    const short = listed.filter((count) => count !== timerCount).length;
    const few = copies.filter((one) => one !== '2/2').length;
    return {
      now:
        `${short} of ${listed.length} lists incomplete, ${repeated} of ${pops} pops twice, ` +
        `${few} of ${copies.length} sets with fewer copies`,
      holds: listed.length > short && short + repeated + few === 0,
    };
  },
};

export const memberFindings: readonly Finding[] = [...tenants, unread, descriptors, clusters];
