/**
 * The ports a member runs on. Everything that depends on time, chance or the outside world goes through one `Env`,
 * passed once to the constructors that need it. Production gets the real ones (`@carillon/core/system` and the server's
 * `system-env.ts`), tests and the simulator get controllable ones; the contract suites in `testing/` hold both to the
 * same behaviour.
 *
 * Callbacks instead of promises where a call happens per timer; promises where it happens rarely.
 */

/** Undoes the call that returned it; calling it again, or too late, does nothing. */
export type Cancel = () => void;

export interface Clock {
  /** Monotonic milliseconds, with fractions. Only differences mean anything. Use for waiting. */
  now(): number;
  /** Wall time in milliseconds since 1970. Comparable between members, may jump. */
  wall(): number;
  /** Calls `fn` once, never before `atMs` on the monotonic clock. */
  at(atMs: number, fn: () => void): Cancel;
  /** Calls `fn` once, after all work that is ready now. Work that arrives before then can share the same call. */
  soon(fn: () => void): void;
}

export interface Random {
  /** A whole number from 0 to 2³² − 1. */
  u32(): number;
  /** A number in [0, 1). */
  unit(): number;
}

/**
 * `event` names the kind of line in a few words with dashes, and stays the same over releases: programs look for it.
 */
export interface LogFields {
  readonly event: string;
  readonly [name: string]: unknown;
}

/** One line per event worth reading later: a sentence and fields. Never pass secrets or query strings. */
export interface Log {
  debug(message: string, fields: LogFields): void;
  info(message: string, fields: LogFields): void;
  warn(message: string, fields: LogFields): void;
  error(message: string, fields: LogFields): void;
}

/**
 * `full` and `no-descriptor` may pass: nothing was done, and open files can still be written and synced. After `failed`
 * nothing written since the last sync can be trusted.
 */
export type DiskErrorKind = 'full' | 'no-descriptor' | 'failed';

/** Why the disk said no. */
export class DiskError extends Error {
  override readonly name = 'DiskError';
  readonly kind: DiskErrorKind;
  constructor(kind: DiskErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** A file open for appending. Calls on one file are made one at a time. */
export interface DiskFile {
  readonly name: string;
  /** Bytes in the file, counting appends that succeeded. */
  readonly size: number;
  /** Appends all of `bytes`, or rejects with DiskError; after `full` the file ends at its old size. */
  append(bytes: Uint8Array): Promise<void>;
  /** Resolves when everything appended before the call survives a power cut. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Room on a disk, for this member and everything else on it. */
export interface DiskRoom {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** One flat folder that belongs to one member. */
export interface Disk {
  /** null: it cannot be told. */
  room(): Promise<DiskRoom | null>;
  list(): Promise<{ name: string; size: number }[]>;
  /**
   * Creates an empty file for appending; its name survives a power cut once this resolves. With `aheadBytes` room for
   * so much is filled with zeros behind its end now and then, from the first append after a sync on, which makes syncs
   * cheaper: after a crash the file may end with zeros.
   */
  create(name: string, aheadBytes?: number): Promise<DiskFile>;
  /**
   * Up to `length` bytes from `offset`; fewer only at the end of the file. With `into`, of at least that length, they
   * may be in there, so that a large file is read through one piece of memory.
   */
  read(name: string, offset: number, length: number, into?: Uint8Array): Promise<Uint8Array>;
  /** Replaces `to` by `from` in one step that survives a power cut. */
  rename(from: string, to: string): Promise<void>;
  /** Removes the file if it is there. */
  remove(name: string): Promise<void>;
  /** Cuts the file to `size` bytes, synced. */
  truncate(name: string, size: number): Promise<void>;
}

/** Answers one frame from a peer. `reply` may be called later, once. */
export type FrameHandler = (frame: Uint8Array, reply: (answer: Uint8Array) => void) => void;

/** Called once for each frame that was sent: with its answer, or with null when none came in time. */
export type FrameAnswered = (answer: Uint8Array | null) => void;

/** How a call between members is made. */
export interface CallTerms {
  readonly limitMs: number;
  /** Long, or with a long answer: it travels beside the others, so that none of them waits behind it. */
  readonly isHeavy?: boolean;
}

/** Between members. A caller can only act on "an answer" or "no answer", so that is all there is. */
export interface Network {
  /**
   * Sends `frame` to the peer listening at `address` and calls `done` exactly once: with the answer, or
   * with null when none came within `limitMs`. Without an answer the peer may or may not have acted.
   * Frames to one address arrive in the order sent while the connection lives: heavy ones among themselves, and the
   * others.
   */
  call(address: string, frame: Uint8Array, terms: CallTerms, done: FrameAnswered): void;
  /** Starts taking frames from peers. */
  listen(handler: FrameHandler): Promise<void>;
  close(): Promise<void>;
}

/** A callback's uri in its two parts. */
export interface SplitUri {
  /** Canonical: `http://receiver.example:8080`. */
  readonly origin: string;
  /** Path and query, starting with a slash. */
  readonly path: string;
}

export interface CallbackRequest {
  readonly uri: string;
  /** The same uri; null: it is not absolute, not HTTP, or carries credentials. */
  readonly split: SplitUri | null;
  /** Whose it is: requests of two namespaces have nothing in common, not even a connection. */
  readonly namespace: string;
  readonly method: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly limitMs: number;
}

/** The result of one callback attempt. */
export type CallbackResult =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly retryAfterMs: number | null;
      /** Not there: the receiver says nothing about pops that come together. */
      readonly together?: Together;
      /**
       * The first bytes of the content of an answer that is no success, as one line of plain text; not there: it had
       * none.
       */
      readonly said?: string;
    }
  | {
      readonly kind: 'no-answer';
      readonly reason: 'refused' | 'timeout' | 'unresolvable' | 'forbidden' | 'cut' | 'tls';
      /** For the log and the dead letter; never the answer's content. */
      readonly detail: string;
    }
  | Unmade;

/** A receiver's word on pops that come together in one request. */
export interface Together {
  /** So many at most; 1: they are to come one by one. */
  readonly countMax: number;
  /**
   * Lines of this request, from 0, that were not handled although the others were; null: the status is for all lines.
   */
  readonly failed: readonly number[] | null;
}

/** The request never left the member, or was not understood at all: this does not count as an attempt. */
export interface Unmade {
  readonly kind: 'unmade';
  readonly detail: string;
  /** When it may be worth asking again. */
  readonly waitMs: number;
}

/** The result of a request that left the member. */
export type Attempted = Exclude<CallbackResult, Unmade>;

/** Told once of the end of a callback. */
export type CallbackDone = (result: CallbackResult) => void;

/** HTTP requests to receivers. Never follows redirects, never reads more of an answer than it needs. */
export interface Callbacks {
  /** Makes the request and calls `done` exactly once, at the latest shortly after `limitMs`. */
  call(request: CallbackRequest, done: CallbackDone): void;
  close(): Promise<void>;
}

export interface Env {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** null: `durability: memory`. */
  readonly disk: Disk | null;
  /** null: alone, no peers. */
  readonly network: Network | null;
  readonly callbacks: Callbacks;
}
