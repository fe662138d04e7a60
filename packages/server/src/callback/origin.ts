/**
 * The connections to one origin. The free ones lie on a stack, the most recently used on top; a connection that lies
 * there for long is closed. There are no more of them than calls that may be in flight, so no call waits here.
 *
 * Example: of 128 connections 3 are in use and 2 are free. A call takes the free one on top. With 5 in use the next
 * call opens a sixth. After 4 s without a call the free ones are closed, before the receiver does so.
 */
import { type CallbackRequest, type Cancel, type Clock, invariant } from '@carillon/core';
import {
  type Connect,
  type ConnectOptions,
  guardedConnect,
  judgeReceiver,
  type Receiver,
  receiverOf,
} from './connect.ts';
import type { Guard } from './guard/guard.ts';
import {
  type Asking,
  type ConnectionEvents,
  ReceiverConnection,
  type Turn,
} from './receiver-connection.ts';

/** Unused connections are closed before receivers usually do, or when they say they will. */
const keepsMsUsual = 4000;
const keepsMsMax = 60_000;
/** The time that receivers announce is counted from before the answer was on its way. */
const keepsMsMargin = 1000;
/** A connection is not used for longer, so that a changed DNS entry is noticed. */
const connectionAgeMsMax = 300_000;
const addressCountMax = 64;

export interface OriginOptions {
  readonly clock: Clock;
  readonly connect: Omit<ConnectOptions, 'onConnect'>;
  readonly connectionCountMax: number;
  readonly turn: Turn;
}

/** A request on its way to the origin, and its sender. */
export interface ReceiverCall extends Asking {
  readonly path: string;
  /** null: it is no longer wanted. */
  readonly request: CallbackRequest | null;
  connection: ReceiverConnection | null;
}

export class Origin implements ConnectionEvents {
  /** Whether a call came here since the last sweep. */
  used = false;
  private readonly options: OriginOptions;
  private readonly receiver: Receiver;
  private readonly host: string;
  private readonly connect: Connect;
  private readonly all = new Set<ReceiverConnection>();
  private readonly unused: ReceiverConnection[] = [];
  private cancelTidy: Cancel | null = null;
  /** The guard's edition that `refusal` holds for. */
  private edition: object | null = null;
  private refusal: string | null = null;
  /** Addresses that connections were made to. */
  private readonly addresses = new Set<string>();

  constructor(name: string, options: OriginOptions) {
    this.options = options;
    this.receiver = receiverOf(name);
    this.host = new URL(name).host;
    this.connect = guardedConnect(this.receiver, {
      ...options.connect,
      onConnect: (address) => this.connected(address),
    });
  }

  get isBusy(): boolean {
    return this.all.size > this.unused.length;
  }

  /** Whether all connections that there may be are in use. */
  get isFull(): boolean {
    return this.unused.length === 0 && this.all.size >= this.options.connectionCountMax;
  }

  /**
   * Why nothing may be sent here; null when it may. When the guard has changed, connections are judged
   * anew too, and dropped if they no longer pass.
   */
  judge(guard: Guard): string | null {
    const edition = guard.edition();
    if (edition === this.edition) return this.refusal;
    const { port } = this.receiver;
    this.edition = edition;
    this.refusal = judgeReceiver(guard, this.receiver);
    const addresses = [...this.addresses];
    const stale =
      addresses.length > addressCountMax ||
      addresses.some((address) => guard.judge(address, port) !== null);
    if (stale || this.refusal !== null) this.destroy();
    return this.refusal;
  }

  /** Sends a call over an unused connection, or a new one. Only while the origin is not full. */
  send(call: ReceiverCall): void {
    this.used = true;
    this.begin(call, this.pick() ?? this.open());
  }

  /** Sends a call over a new connection: one that was used before has failed it, and is gone. */
  sendFresh(call: ReceiverCall): void {
    this.begin(call, this.open());
  }

  destroy(): void {
    this.addresses.clear();
    this.cancelTidy?.();
    this.cancelTidy = null;
    // A call that fails may be followed by another one, over a new connection.
    const present = Array.from(this.all);
    for (const connection of present) connection.end(null);
  }

  free(connection: ReceiverConnection): void {
    connection.freeMs = this.options.clock.now();
    this.unused.push(connection);
    this.tidyLater();
  }

  ended(connection: ReceiverConnection): void {
    this.all.delete(connection);
    const at = this.unused.indexOf(connection);
    if (at >= 0) this.unused.splice(at, 1);
  }

  private begin(call: ReceiverCall, connection: ReceiverConnection): void {
    const { path, request } = call;
    if (request === null) return;
    invariant(call.connection === null, 'a callback has one connection');
    call.connection = connection;
    connection.ask(this.host, path, request, call);
  }

  private pick(): ReceiverConnection | null {
    const nowMs = this.options.clock.now();
    for (let top = this.unused.pop(); top !== undefined; top = this.unused.pop()) {
      if (nowMs - top.bornMs < connectionAgeMsMax && nowMs < unusedUntilMs(top)) return top;
      top.end(null);
    }
    return null;
  }

  private open(): ReceiverConnection {
    const { turn, clock } = this.options;
    const parts = { events: this, turn, bornMs: clock.now() };
    const connection = new ReceiverConnection(this.connect, parts);
    this.all.add(connection);
    invariant(
      this.all.size <= this.options.connectionCountMax,
      'a receiver has a bounded number of connections',
    );
    return connection;
  }

  private tidyLater(): void {
    const { clock } = this.options;
    this.cancelTidy ??= clock.at(clock.now() + keepsMsUsual, () => {
      this.cancelTidy = null;
      const nowMs = clock.now();
      for (const connection of this.unused.slice())
        if (nowMs >= unusedUntilMs(connection)) connection.end(null);
      if (this.unused.length > 0) this.tidyLater();
    });
  }

  private connected(address: string): void {
    // One address more than the limit tells that some are missing here.
    if (this.addresses.size <= addressCountMax) this.addresses.add(address);
  }
}

function unusedUntilMs({ freeMs, keepsMs }: ReceiverConnection): number {
  if (keepsMs === null) return freeMs + keepsMsUsual;
  return freeMs + Math.min(Math.max(0, keepsMs - keepsMsMargin), keepsMsMax);
}
