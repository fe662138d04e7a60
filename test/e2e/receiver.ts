/** A receiver that remembers every callback: which, when, and how late. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { listening } from './support/listening.ts';

export interface Callback {
  readonly opaque: string;
  readonly id: string;
  readonly sequence: number;
  readonly attempt: number;
  /** From the due time in the callback to its arrival, by the same wall clock. */
  readonly latenessMs: number;
}

export class Receiver {
  readonly callbacks: Callback[] = [];
  /** Waits this long before it answers. */
  answerMs = 0;
  private readonly server: Server;
  private wake: () => void = () => {};

  constructor() {
    this.server = createServer((request, response) => {
      const atMs = Date.now();
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.callbacks.push(callbackOf(request, Buffer.concat(chunks).toString(), atMs));
        this.wake();
        if (this.answerMs === 0) response.end();
        else setTimeout(() => response.end(), this.answerMs);
      });
    });
    // A member keeps its connections; closing them here would make it call again.
    this.server.keepAliveTimeout = 0;
  }

  async listen(port = 0): Promise<string> {
    return `http://127.0.0.1:${await listening(this.server, '127.0.0.1', port)}`;
  }

  /** Resolves when so many callbacks came. */
  async received(count: number): Promise<void> {
    while (this.callbacks.length < count) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

function callbackOf({ headers }: IncomingMessage, opaque: string, atMs: number): Callback {
  return {
    opaque,
    id: String(headers['x-timer-id']),
    sequence: Number(headers['x-sequence-number']),
    attempt: Number(headers['x-timer-attempt']),
    latenessMs: atMs - Date.parse(String(headers['x-timer-due'])),
  };
}
