/** An answer that goes on: server-sent events, files. What the listener hands to whoever writes one. */
import type { ServerResponse } from 'node:http';

/** Where a streaming answer is written. After its end, or the client's, everything here does nothing. */
export interface Outflow {
  write(chunk: string | Uint8Array): void;
  /** Written and not yet taken by the client. */
  readonly waitingBytes: number;
  end(): void;
  /** Drops the client, and with it whatever waits. */
  cut(): void;
  /** `fn` is called once, when the answer is over, whoever ended it. */
  onClose(fn: () => void): void;
}

export class ResponseOutflow implements Outflow {
  private readonly response: ServerResponse;

  constructor(response: ServerResponse) {
    this.response = response;
  }

  get waitingBytes(): number {
    return this.response.writableLength;
  }

  write(chunk: string | Uint8Array): void {
    if (!this.response.writableEnded && !this.response.destroyed) this.response.write(chunk);
  }

  end(): void {
    this.response.end();
  }

  cut(): void {
    this.response.destroy();
  }

  onClose(fn: () => void): void {
    this.response.once('close', fn);
  }

  /** Ends the answer and its connection: nothing more will be asked on it. */
  finish(): void {
    const { socket } = this.response;
    this.response.end(() => socket?.destroySoon());
  }
}
