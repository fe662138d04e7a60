/**
 * The connections to one origin. Not undici's own pool: that looks through all of its connections for a free
 * one at every request, here the free ones lie on a stack, the most recently used on top.
 */
import { Client } from 'undici';
import {
  type ConnectOptions,
  guardedConnector,
  judgeReceiver,
  type Receiver,
  receiverOf,
} from './connect.ts';
import type { Guard } from './guard.ts';

const answerBytesMax = 16 * 1024;
/** Unused connections are closed before receivers usually do, or when they say they will. */
const keepAliveMs = 4000;
const keepAliveMsMax = 60_000;
/** A connection is not used for longer, so that a changed DNS entry is noticed. */
const connectionAgeMsMax = 300_000;
const addressCountMax = 64;

export interface Connection {
  readonly client: Client;
  readonly bornMs: number;
  /** Requests given to it that have not ended; more than one only when all connections are busy. */
  load: number;
}

export class Origin {
  readonly name: string;
  /** Since the last sweep. */
  used = false;
  /** Requests that undici has not let go of. */
  held = 0;
  private readonly receiver: Receiver;
  private readonly connector: ReturnType<typeof guardedConnector>;
  private readonly connectionCountMax: number;
  private readonly all: Connection[] = [];
  private readonly free: Connection[] = [];
  private turn = 0;
  /** The guard's edition that `refusal` holds for. */
  private edition: object | null = null;
  private refusal: string | null = null;
  /** Addresses that connections were made to. */
  private readonly addresses = new Set<string>();

  constructor(
    name: string,
    connect: Omit<ConnectOptions, 'onConnect'>,
    connectionCountMax: number,
  ) {
    this.name = name;
    this.receiver = receiverOf(name);
    this.connector = guardedConnector(this.receiver, {
      ...connect,
      onConnect: (address) => this.connected(address),
    });
    this.connectionCountMax = connectionCountMax;
  }

  /**
   * Why nothing may be sent here; null when it may. When the guard has changed, what is connected is judged
   * anew too, and dropped if it no longer passes.
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
    if (stale || this.refusal !== null) void this.destroy();
    return this.refusal;
  }

  /** A free connection, or a new one, or else one with a request to queue behind. Give it back with `release`. */
  take(nowMs: number): Connection {
    const connection = this.pick(nowMs);
    connection.load++;
    this.held++;
    this.used = true;
    return connection;
  }

  release(connection: Connection): void {
    const { client } = connection;
    this.held--;
    if (--connection.load === 0 && !client.destroyed && !client.closed) this.free.push(connection);
  }

  async destroy(): Promise<void> {
    this.addresses.clear();
    this.free.length = 0;
    await Promise.all(this.all.splice(0).map(({ client }) => client.destroy()));
  }

  private pick(nowMs: number): Connection {
    for (let top = this.free.pop(); top !== undefined; top = this.free.pop()) {
      if (nowMs - top.bornMs < connectionAgeMsMax) return top;
      this.retire(top);
    }
    if (this.all.length < this.connectionCountMax) {
      const connection = { client: this.open(), bornMs: nowMs, load: 0 };
      this.all.push(connection);
      return connection;
    }
    this.turn = (this.turn + 1) % this.all.length;
    return this.all[this.turn] as Connection;
  }

  /** Requests queued behind it still get their turn. */
  private retire(connection: Connection): void {
    this.all.splice(this.all.indexOf(connection), 1);
    void connection.client.close();
  }

  private open(): Client {
    return new Client(this.name, {
      connect: this.connector,
      allowH2: false,
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMsMax,
      maxResponseSize: answerBytesMax,
      // One alarm an attempt covers everything; undici's own are coarse and cover parts.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }

  private connected(address: string): void {
    // One too many says that some are missing.
    if (this.addresses.size <= addressCountMax) this.addresses.add(address);
  }
}
