/**
 * Callbacks per second and CPU per callback into a minimal receiver in a process of its own on loopback, against bare
 * undici dispatch in the same run, which is in wide use, and has no guard, limits, breaker or time limit. Prepared
 * bytes on bare sockets show the limit of the receiver itself.
 *
 * CPU counts the calling process alone (user and system). Rounds alternate between the candidates and the median is
 * reported, because two runs on one machine differ more than the candidates do.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { connect, type Socket } from 'node:net';
import type { CallbackRequest } from '@carillon/core';
import { SystemClock } from '@carillon/core/system';
import { type Dispatcher, Pool } from 'undici';
import { HttpCallbacks } from '../../packages/server/src/callback/callback.ts';
import { Destinations } from '../../packages/server/src/pop/sending/destinations.ts';
import { Guard } from '../../packages/server/src/callback/guard/guard.ts';
import { Signer } from '../../packages/server/src/callback/sign.ts';

/** Of a whole run. */
const callCountMax = 20_000;
let callCount = callCountMax;
const roundCount = 5;
const concurrency = 64;
const body = Buffer.from('x'.repeat(64));
const headers = {
  'content-type': 'text/plain',
  'x-sequence-number': '1',
  'x-timer-id': '0123456789abcdef0123456789abcdef-2',
  'x-timer-due': '2026-01-01T00:00:00.000Z',
  'x-timer-attempt': '1',
};

/** Answers 204 as soon as a head is complete; bodies are small enough to arrive with it. */
const receiverSource = `
const { createServer } = require('node:net');
const answer = Buffer.from('HTTP/1.1 204 No Content\\r\\n\\r\\n');
createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('data', () => socket.write(answer));
  socket.on('error', () => {});
}).listen(0, '127.0.0.1', function () { console.log(this.address().port); });
`;

interface Candidate {
  readonly name: string;
  readonly call: (done: () => void) => void;
}

type Figures = Record<string, { perSecond: number; cpuUs: number; ratio: number }>;

interface Round {
  readonly perSecond: number;
  readonly cpuUs: number;
}

export async function run(report: (line: string) => void, share = 1): Promise<Figures> {
  callCount = callCountMax * share;
  const receiver = spawn(process.execPath, ['-e', receiverSource], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const origin = `http://127.0.0.1:${await portOf(receiver)}`;
  const pool = new Pool(origin, { connections: concurrency });
  const clock = new SystemClock();
  const denied = [{ host: '127.0.0.1', port: 7253 }];
  const guard = new Guard({ allow: [], loopback: true, denied: () => denied });
  const callbacks = new HttpCallbacks({ clock, guard, connectionCountMax: 128 });
  const destinations = new Destinations({
    clock,
    callbacks,
    inFlightMax: 512,
    inFlightPerDestinationMax: 128,
    queueLengthMax: 10_000,
    usualLimitMs: 10_000,
  });
  try {
    return await compare(report, candidates(origin, pool, callbacks, destinations));
  } finally {
    await destinations.close();
    await pool.destroy();
    receiver.kill();
  }
}

function candidates(
  origin: string,
  pool: Pool,
  callbacks: HttpCallbacks,
  destinations: Destinations,
): Candidate[] {
  const request: CallbackRequest = {
    uri: `${origin}/pop`,
    split: { origin, path: '/pop' },
    namespace: 'default',
    method: 'POST',
    headers,
    body,
    limitMs: 10_000,
  };
  const signer = new Signer([`whsec_${Buffer.alloc(32, 1).toString('base64')}`]);
  const sockets = new BareSockets(origin);
  return [
    { name: 'sockets', call: (done) => sockets.call(done) },
    { name: 'undici', call: (done) => bare(pool, done) },
    { name: 'callbacks', call: (done) => callbacks.call(request, done) },
    { name: 'destinations', call: (done) => destinations.call(request, () => request, done) },
    {
      name: 'signed',
      call: (done) => {
        const begin = (): CallbackRequest => {
          const signature = signer.headers('0123456789abcdef_1_2_3', clockMs(), body);
          return { ...request, headers: { ...headers, ...signature } };
        };
        destinations.call(request, begin, done);
      },
    },
  ];
}

async function compare(
  report: (line: string) => void,
  all: readonly Candidate[],
): Promise<Figures> {
  const rounds = new Map<string, Round[]>(all.map(({ name }) => [name, []]));
  for (let i = 0; i <= roundCount; i++) {
    for (const candidate of all) {
      const round = await measure(candidate);
      // The first round warms up.
      if (i > 0) rounds.get(candidate.name)?.push(round);
    }
  }
  const figures: Figures = {};
  const base = median((rounds.get('undici') ?? []).map(({ cpuUs }) => cpuUs));
  for (const [name, measured] of rounds) {
    const cpuUs = median(measured.map((round) => round.cpuUs));
    const perSecond = median(measured.map((round) => round.perSecond));
    const ratio = cpuUs / base;
    figures[name] = {
      perSecond: Math.round(perSecond),
      cpuUs: round2(cpuUs),
      ratio: round2(ratio),
    };
    report(
      `callback ${name}: ${Math.round(perSecond)}/s, ${cpuUs.toFixed(1)} µs CPU each, ${ratio.toFixed(2)} × bare undici`,
    );
  }
  return figures;
}

async function measure({ call }: Candidate): Promise<Round> {
  const startMs = clockMs();
  const start = process.cpuUsage();
  await new Promise<void>((resolve) => {
    let started = 0;
    let ended = 0;
    const next = (): void => {
      if (started++ < callCount) call(done);
    };
    const done = (): void => {
      if (++ended === callCount) resolve();
      else next();
    };
    for (let i = 0; i < concurrency; i++) next();
  });
  const { user, system } = process.cpuUsage(start);
  return {
    perSecond: (callCount / (clockMs() - startMs)) * 1000,
    cpuUs: (user + system) / callCount,
  };
}

function bare(pool: Pool, done: () => void): void {
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart() {},
    onResponseStart() {},
    onResponseData() {},
    onResponseEnd: done,
    onResponseError(_, error) {
      throw error;
    },
  };
  pool.dispatch({ path: '/pop', method: 'POST', headers, body }, handler);
}

/** Prepared bytes on kept connections: no sender can do less, so this is the limit of the receiver. */
class BareSockets {
  private readonly idle: Socket[] = [];
  private readonly port: number;
  private readonly request: Buffer;

  constructor(origin: string) {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const { host, port } = new URL(origin);
    this.port = Number(port);
    this.request = Buffer.from(
      `POST /pop HTTP/1.1\r\nhost: ${host}\r\n${lines.join('')}content-length: ${body.length}\r\n\r\n${body.toString()}`,
    );
  }

  call(done: () => void): void {
    const socket = this.idle.pop() ?? connect({ host: '127.0.0.1', port: this.port });
    socket.once('data', () => {
      this.idle.push(socket);
      done();
    });
    socket.unref().write(this.request);
  }
}

async function portOf(receiver: ChildProcess): Promise<number> {
  for await (const chunk of receiver.stdout ?? []) return Number(String(chunk));
  throw new Error('The receiver ended before it said its port.');
}

function clockMs(): number {
  return performance.now();
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
