/** For tests: an API behind a real socket, and a client that sends any bytes. */
import { connect, type Socket } from 'node:net';
import type { Clock } from '@carillon/core';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { VirtualClock } from '@carillon/core/testing';
import { configOf } from '../config/config.ts';
import { Metrics } from '../metrics/metrics.ts';
import { Listener, type ListenerOptions } from './listener.ts';
import type { ApiRequest, ApiResponse } from './message.ts';
import type { Certificate } from './tls.ts';
import { type TestApi, testApi } from '../api/stand-in.contract.ts';

export interface Serving extends AsyncDisposable {
  readonly listener: Listener;
  readonly metrics: Metrics;
  readonly url: string;
  readonly port: number;
  /** A connection that collects the bytes that come back. */
  readonly dial: () => Promise<Dialled>;
}

export interface Listening extends Serving {
  readonly api: TestApi;
}

export interface ServingOptions {
  /** Dotted option names, such as `limits.uriBytesMax`. */
  readonly overrides?: Readonly<Record<string, unknown>>;
  readonly clock?: Clock;
  readonly beforeWork?: () => void;
  readonly certificate?: Certificate;
  readonly refuseEarly?: ListenerOptions['router']['refuseEarly'];
  readonly isLong?: ListenerOptions['router']['isLong'];
}

export async function listening(
  overrides: Readonly<Record<string, unknown>> = {},
  beforeWork?: () => void,
): Promise<Listening> {
  const api = testApi(overrides);
  const { router, metrics } = api;
  const hook = beforeWork === undefined ? {} : { beforeWork };
  return { api, ...(await serve(router, metrics, { overrides, ...hook })) };
}

/** A listener whose requests all go to one function. */
export function serving(
  handle: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>,
  options: ServingOptions = {},
): Promise<Serving> {
  const { limits } = configOf(new Map(Object.entries(options.overrides ?? {})));
  const { refuseEarly = () => null, isLong = () => false } = options;
  const partyOf = ({ headers }: ApiRequest): string => String(headers['carillon-namespace']);
  const bodyBytesMax = (): number => limits.bodyBytesMax;
  const router = { handle, bodyBytesMax, refuseEarly, isLong, partyOf };
  return serve(router, new Metrics({ version: '1', runtime: 'x' }), options);
}

async function serve(
  router: ListenerOptions['router'],
  metrics: Metrics,
  options: ServingOptions,
): Promise<Serving> {
  const { overrides = {}, clock = new SystemClock(), beforeWork, certificate = null } = options;
  const { limits } = configOf(new Map(Object.entries(overrides)));
  const hook = beforeWork === undefined ? {} : { beforeWork };
  const parts = { router, limits, metrics, clock, random: new SystemRandom(), certificate };
  const listener = new Listener({ ...parts, ...hook });
  const address = await listener.listen('127.0.0.1:0');
  const port = Number(address.split(':')[1]);
  return {
    listener,
    metrics,
    url: `http://${address}`,
    port,
    dial: () => dial(port),
    [Symbol.asyncDispose]: async () => {
      const closed = listener.close(0);
      if (clock instanceof VirtualClock) await clock.advance(1);
      await closed;
    },
  };
}

export class Dialled {
  readonly socket: Socket;
  text = '';
  error: Error | null = null;
  /** Resolves when the other side has closed, one way or another. */
  readonly closed: Promise<void>;
  private readonly waiting = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.text += chunk.toString('latin1');
      for (const check of this.waiting) check();
    });
    socket.on('error', (error) => {
      this.error = error;
    });
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
  }

  send(data: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(data);
  }

  /** The statuses of the answers so far. */
  get statuses(): number[] {
    return (this.text.match(/HTTP\/1\.1 \d+/g) ?? []).map((line) => Number(line.slice(9)));
  }

  /** Resolves once the collected bytes match; rejects when the connection closes before. */
  until(pattern: RegExp): Promise<void> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        if (!pattern.test(this.text)) return;
        this.waiting.delete(check);
        resolve();
      };
      this.waiting.add(check);
      check();
      void this.closed.then(() => reject(new Error(`closed after: ${this.text}`)));
    });
  }
}

function dial(port: number): Promise<Dialled> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' }, () => resolve(new Dialled(socket)));
    socket.once('error', reject);
  });
}
