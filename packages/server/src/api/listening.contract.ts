/** For tests: an API behind a real socket, and a client that sends whatever bytes it likes. */
import { connect, type Socket } from 'node:net';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { configOf } from '../config.ts';
import { Listener } from './listener.ts';
import { type TestApi, testApi } from './stand-in.contract.ts';

export interface Listening extends AsyncDisposable {
  readonly api: TestApi;
  readonly listener: Listener;
  readonly url: string;
  readonly port: number;
  /** A connection that collects what comes back. */
  readonly dial: () => Promise<Dialled>;
}

export async function listening(
  overrides: Readonly<Record<string, unknown>> = {},
  beforeWork?: () => void,
): Promise<Listening> {
  const api = testApi(overrides);
  const { router, metrics } = api;
  const { limits } = configOf(new Map(Object.entries(overrides)));
  const ports = { clock: new SystemClock(), random: new SystemRandom() };
  const hook = beforeWork === undefined ? {} : { beforeWork };
  const listener = new Listener({ router, limits, metrics, ...ports, ...hook });
  const address = await listener.listen('127.0.0.1:0');
  const port = Number(address.split(':')[1]);
  return {
    api,
    listener,
    url: `http://${address}`,
    port,
    dial: () => dial(port),
    [Symbol.asyncDispose]: () => listener.close(0),
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

  /** Resolves once what came back matches; rejects when the connection closes before. */
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
