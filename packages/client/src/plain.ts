/**
 * Callbacks and answers without `Request` and `Response`: the core of a receiver, which adapters for servers on Node
 * use directly, because making the web's objects for each callback costs more than handling it. `receiver` wraps it for
 * all other servers.
 */
import { refuseUnless } from '@carillon/core';

export interface PlainCall {
  /** `name` in lower case; null: there is no such header. */
  readonly header: (name: string) => string | null;
  /** All of them, for a handler that asks. */
  readonly headers: () => Headers;
  readonly body: Uint8Array;
}

export interface TooLong {
  /** Longer than the receiver takes. */
  readonly body: null;
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Plain {
  /** A longer body is not read. */
  readonly bodyBytesMax: number;
  /** Rejects with the error that `onError` of the receiver threw, and for no other reason. */
  readonly answer: (call: PlainCall | TooLong) => Promise<PlainAnswer>;
}

/** The function that `receiver` returns; its core beside it. Any other function of this form will do for adapters. */
export type Receive = ((request: Request) => Promise<Response>) & { readonly plain?: Plain };

/** Throws TypeError; `adapter` is the function that was to hand it on. */
export function checkReceive(receive: Receive, adapter: string): void {
  const right = 'the result of receiver(…)';
  refuseUnless(typeof receive === 'function', `The argument of ${adapter}`, right, receive);
}

export interface Pieces {
  /** False: more than allowed, and nothing is kept. */
  readonly add: (chunk: Uint8Array) => boolean;
  readonly whole: () => Uint8Array<ArrayBuffer>;
}

/** Pieces of a body, up to a limit. */
export function piecesOf(bytesMax: number): Pieces {
  let chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  return {
    add(chunk) {
      length += chunk.length;
      if (length > bytesMax) chunks = [];
      else chunks.push(chunk as Uint8Array<ArrayBuffer>);
      return length <= bytesMax;
    },
    whole() {
      const [first] = chunks;
      if (first !== undefined && first.length === length) return first;
      const whole = new Uint8Array(length);
      let at = 0;
      for (const chunk of chunks) {
        whole.set(chunk, at);
        at += chunk.length;
      }
      return whole;
    },
  };
}
