/** Keeps so many requests of so many bytes in flight, one on each connection, and counts the answers. */
import { connect } from 'node:net';
import { answerCalls } from '../support/remote.ts';

export interface BareLoad {
  readonly url: string;
  readonly inFlight: number;
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly ms: number;
}

export interface BareResult {
  readonly count: number;
  readonly seconds: number;
  /** Of this process. */
  readonly cpuMs: number;
}

answerCalls({ run });

async function run({
  url,
  inFlight,
  requestBytes,
  answerBytes,
  ms,
}: BareLoad): Promise<BareResult> {
  const request = Buffer.alloc(requestBytes, 'r');
  const port = Number(new URL(url).port);
  let count = 0;
  const sockets = Array.from({ length: inFlight }, () => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let received = 0;
    socket.on('data', (bytes: Buffer) => {
      for (received += bytes.length; received >= answerBytes; received -= answerBytes) {
        count++;
        socket.write(request);
      }
    });
    socket.write(request);
    return socket;
  });
  const startCpu = process.cpuUsage();
  const startMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, ms));
  const { user, system } = process.cpuUsage(startCpu);
  const seconds = (performance.now() - startMs) / 1000;
  const result = { count, seconds, cpuMs: (user + system) / 1000 };
  for (const socket of sockets) socket.destroy();
  return result;
}
