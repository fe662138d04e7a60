/** A receiver that writes down every callback in the form the simulator's checkers read. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { ReceivedCall } from '../../../packages/sim/src/world/calls.ts';
import { listening } from './listening.ts';

/** A callback, with the lateness that only real clocks can show. */
export interface RecordedCall extends ReceivedCall {
  /** From the due time in the request to its arrival, by the same wall clock. */
  readonly latenessMs: number;
}

/** Callbacks do not say which member makes them, and on loopback neither does their address; faults count for all. */
export const someMember = 'some member';

export class Recorder {
  readonly calls: RecordedCall[] = [];
  /** Told of every callback when it has arrived. */
  onCall: (call: RecordedCall) => void = () => {};
  private readonly server: Server;

  /** `callerAt`: the member that calls from an address, where members have addresses of their own. */
  constructor(callerAt: (address: string) => string = () => someMember) {
    this.server = createServer((request, response) => {
      const startMs = performance.now();
      const wallMs = Date.now();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const call = callOf(request, Buffer.concat(chunks).toString(), {
          by: callerAt(request.socket.remoteAddress ?? ''),
          startMs,
          wallMs,
        });
        this.calls.push(call);
        this.onCall(call);
        response.end();
        call.endMs = performance.now();
        call.result = { kind: 'answer', status: 200, retryAfterMs: null };
      });
    });
    // A member keeps its connections; closing them here would make it call again.
    this.server.keepAliveTimeout = 0;
  }

  async listen(host = '127.0.0.1'): Promise<string> {
    return `http://${host}:${await listening(this.server, host)}/`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

function callOf(
  { headers }: IncomingMessage,
  body: string,
  arrived: { readonly by: string; readonly startMs: number; readonly wallMs: number },
): RecordedCall {
  const { by, startMs, wallMs } = arrived;
  const number = String(headers['x-timer-id']).slice(0, 16);
  const sequence = Number(headers['x-sequence-number']);
  return {
    by,
    receiver: 'recorder',
    startMs,
    popId: `${number} ${String(headers['x-timer-version'])} ${sequence}`,
    number,
    sequence,
    missed: Number(headers['x-timer-missed'] ?? 0),
    attempt: Number(headers['x-timer-attempt']),
    body,
    effectMs: startMs,
    result: null,
    endMs: null,
    latenessMs: wallMs - Date.parse(String(headers['x-timer-due'])),
  };
}

/** The lateness below which the given share of the calls lies. */
export function latenessAt(calls: readonly { latenessMs: number }[], share: number): number {
  const sorted = calls.map(({ latenessMs }) => latenessMs).toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
