/**
 * The etcd port on a real etcd: one HTTP/2 connection at a time, to one of the endpoints. The first
 * doubt about an endpoint (no connection, no answer, no leader) moves everything to the next one.
 * Reads, keepalives and revocations are repeated there while their time lasts, because doing them twice
 * is the same as once; transactions and grants only when they certainly never left (E3).
 *
 * A watch lives on the same connection as the calls. While one is open and nothing else has been answered
 * for a while, a small read is sent as heartbeat, so that a silently dead connection is noticed.
 */
import { type Cancel, type Clock, type Log, sleep } from '@carillon/core';
import {
  type Etcd,
  EtcdError,
  type RangeAnswer,
  type Txn,
  type TxnAnswer,
  type WatchHandlers,
} from './etcd.ts';
import {
  decodeHeader,
  decodeLease,
  decodeRange,
  decodeToken,
  decodeTxn,
  decodeWatch,
  encodeAuthenticate,
  encodeLeaseGrant,
  encodeLeaseId,
  encodePrefixRange,
  encodeProofRead,
  encodeTxn,
  encodeWatch,
  type WatchMessage,
} from './etcd-messages.ts';
import { GrpcConnection, type TlsOptions, TokenError } from './grpc.ts';

export interface EtcdClientOptions {
  /** `http://` or `https://` addresses of one etcd cluster; tried in this order, round and round. */
  readonly endpoints: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  readonly tls?: TlsOptions;
  readonly auth?: { readonly user: string; readonly password: string };
}

/** How long one endpoint may take to answer something that can be asked elsewhere too. */
const attemptMs = 1000;
/** With less time left than this a further attempt would only hide why the others failed. */
const attemptMsMin = 100;
/** Pause after every endpoint has failed once; short, because a new etcd leader takes about a second. */
const roundPauseMs = 50;
/** A connection with a watch that has been silent this long is asked whether it still lives. */
const heartbeatMs = 1500;

const path = {
  range: '/etcdserverpb.KV/Range',
  txn: '/etcdserverpb.KV/Txn',
  grant: '/etcdserverpb.Lease/LeaseGrant',
  keepAlive: '/etcdserverpb.Lease/LeaseKeepAlive',
  revoke: '/etcdserverpb.Lease/LeaseRevoke',
  watch: '/etcdserverpb.Watch/Watch',
  authenticate: '/etcdserverpb.Auth/Authenticate',
} as const;

export class EtcdClient implements Etcd {
  private readonly options: EtcdClientOptions;
  private readonly clock: Clock;
  private connection: GrpcConnection | null = null;
  /** Index of the endpoint in use. */
  private at = 0;
  private token: Promise<string> | null = null;
  private closed = false;
  private answeredAtMs = Number.NEGATIVE_INFINITY;
  private cancelHeartbeat: Cancel | null = null;
  private readonly watches = new Set<Watch>();

  constructor(options: EtcdClientOptions) {
    if (!Array.isArray(options.endpoints) || options.endpoints.length === 0) {
      throw new TypeError(
        'etcd: a list with at least one endpoint is needed, such as http://127.0.0.1:2379.',
      );
    }
    const endpoints = options.endpoints.map((endpoint) => endpointUrl(endpoint, options.tls));
    this.options = { ...options, endpoints };
    this.clock = options.clock;
  }

  async range(prefix: string, limitMs: number): Promise<RangeAnswer> {
    const call = this.caller(path.range, encodePrefixRange(prefix), decodeRange);
    const { header, entries } = await this.repeat(limitMs, call);
    return { revision: header.revision, entries };
  }

  async txn(txn: Txn, limitMs: number): Promise<TxnAnswer> {
    const readOnly = txn.when.length === 0 && txn.success.every((operation) => 'get' in operation);
    const call = this.caller(path.txn, encodeTxn(txn), decodeTxn);
    const answer = await (readOnly ? this.repeat(limitMs, call) : this.once(limitMs, call));
    const { header, succeeded, found } = answer;
    return { succeeded, revision: header.revision, found };
  }

  async grantLease(id: bigint, ttlMs: number, limitMs: number): Promise<number> {
    const message = encodeLeaseGrant(id, Math.ceil(ttlMs / 1000));
    const call = this.caller(path.grant, message, decodeLease);
    return (await this.once(limitMs, call)).ttlS * 1000;
  }

  keepAlive(id: bigint, proofKey: string, limitMs: number): Promise<number> {
    return this.repeat(limitMs, (connection, leftMs) =>
      this.renew(connection, { id, proofKey, limitMs: leftMs }),
    );
  }

  async revokeLease(id: bigint, limitMs: number): Promise<void> {
    try {
      await this.repeat(limitMs, this.caller(path.revoke, encodeLeaseId(id), decodeHeader));
    } catch (error) {
      if (!(error instanceof EtcdError) || error.kind !== 'lease-gone') throw error;
    }
  }

  watch(prefix: string, fromRevision: number, handlers: WatchHandlers): Cancel {
    const watch: Watch = { prefix, handlers, cut: null };
    this.watches.add(watch);
    this.openWatch(watch, fromRevision).catch((error: unknown) => this.endWatch(watch, error));
    this.armHeartbeat();
    return () => {
      this.watches.delete(watch);
      watch.cut?.();
    };
  }

  close(): Promise<void> {
    this.closed = true;
    this.cancelHeartbeat?.();
    this.connection?.destroy('the client was closed');
    return Promise.resolve();
  }

  /** Keepalive, then a linearizable read: an equal raft term shows that the leader that renewed still led (E4). */
  private async renew(
    connection: GrpcConnection,
    want: { id: bigint; proofKey: string; limitMs: number },
  ): Promise<number> {
    const untilMs = this.clock.now() + want.limitMs;
    const ask = this.caller(path.keepAlive, encodeLeaseId(want.id), decodeLease);
    const proof = this.caller(path.range, encodeProofRead(want.proofKey), decodeHeader);
    let renewed = await ask(connection, want.limitMs);
    let proven = await proof(connection, untilMs - this.clock.now());
    if (renewed.ttlS === 0) {
      // A leader that has just been elected may not have caught up with the grant; after the read it has.
      renewed = await ask(connection, untilMs - this.clock.now());
      if (renewed.ttlS === 0) throw new EtcdError('lease-gone', `etcd: lease ${want.id} is gone.`);
      proven = await proof(connection, untilMs - this.clock.now());
    }
    if (proven.raftTerm !== renewed.header.raftTerm) {
      throw new EtcdError(
        'no-answer',
        `etcd ${connection.endpoint}: the leader changed meanwhile.`,
      );
    }
    return renewed.ttlS * 1000;
  }

  private caller<T>(
    to: string,
    message: Uint8Array,
    decode: (bytes: Uint8Array) => T,
  ): EtcdCall<T> {
    return async (connection, limitMs) => {
      const untilMs = this.clock.now() + limitMs;
      const metadata = await this.metadata(connection, limitMs);
      const answer = await connection.call(to, message, untilMs - this.clock.now(), metadata);
      this.answeredAtMs = this.clock.now();
      try {
        return decode(answer);
      } catch (error) {
        // The bytes that arrived are no answer of etcd, so it is unknown whether the call acted: the same as no answer.
        throw new EtcdError('no-answer', `etcd ${connection.endpoint}: an unreadable answer.`, {
          cause: error,
        });
      }
    };
  }

  /** For calls that may act twice: when one endpoint does not answer, the next is asked. */
  private async repeat<T>(limitMs: number, call: EtcdCall<T>): Promise<T> {
    return this.attempt(limitMs, call, true);
  }

  private async once<T>(limitMs: number, call: EtcdCall<T>): Promise<T> {
    return this.attempt(limitMs, call, false);
  }

  private async attempt<T>(limitMs: number, call: EtcdCall<T>, repeatable: boolean): Promise<T> {
    const untilMs = this.clock.now() + limitMs;
    let telling: EtcdError | null = null;
    for (let tried = 1; ; tried++) {
      const connection = this.connect();
      const leftMs = untilMs - this.clock.now();
      // The first endpoint gets half of the remaining time, so that a second one can still be asked.
      const share = repeatable ? Math.min(attemptMs, Math.max(leftMs / 2, attemptMsMin)) : leftMs;
      try {
        return await call(connection, Math.min(share, leftMs));
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        if (error instanceof TokenError) this.token = null;
        else if (error.kind === 'no-answer' || error.kind === 'not-sent') this.moveOn(connection);
        else throw error;
        const harmless = repeatable || error.kind === 'not-sent' || error instanceof TokenError;
        const every = tried % this.options.endpoints.length === 0;
        const pauseMs = every ? roundPauseMs : 0;
        if (!harmless || this.closed) throw error;
        // An endpoint that took its time tells more than one where nothing listens.
        if (telling === null || telling.cause !== undefined) telling = error;
        if (untilMs - this.clock.now() - pauseMs < attemptMsMin) throw telling;
        if (pauseMs > 0) await sleep(this.clock, pauseMs);
      }
    }
  }

  private connect(): GrpcConnection {
    if (this.closed) throw new EtcdError('not-sent', 'etcd: the client is closed.');
    if (this.connection?.alive !== true) {
      const endpoint = this.options.endpoints[this.at % this.options.endpoints.length] as string;
      this.connection = new GrpcConnection(endpoint, this.clock, this.options.tls);
    }
    return this.connection;
  }

  /** Leaves an endpoint that gave no answer; the watches on it end and are opened again elsewhere by their owners. */
  private moveOn(connection: GrpcConnection): void {
    if (connection !== this.connection) return;
    this.at = (this.at + 1) % this.options.endpoints.length;
    this.connection = null;
    connection.destroy('given up after a missing answer');
    this.options.log.debug('An etcd endpoint is left for the next one.', {
      event: 'etcd-endpoint-left',
      from: connection.endpoint,
    });
  }

  private async metadata(
    connection: GrpcConnection,
    limitMs: number,
  ): Promise<Record<string, string>> {
    const { auth } = this.options;
    if (auth === undefined) return { hasleader: 'true' };
    this.token ??= connection
      .call(path.authenticate, encodeAuthenticate(auth.user, auth.password), limitMs, {})
      .then(decodeToken);
    try {
      return { hasleader: 'true', token: await this.token };
    } catch (error) {
      this.token = null;
      // Asking for a token changes nothing in etcd, so the call itself has not acted either.
      if (error instanceof EtcdError && error.kind !== 'no-answer') throw error;
      throw new EtcdError('not-sent', `etcd: no token (${String(error)}).`, { cause: error });
    }
  }

  private async openWatch(watch: Watch, fromRevision: number): Promise<void> {
    const connection = this.connect();
    const metadata = await this.metadata(connection, attemptMs);
    if (!this.watches.has(watch)) return;
    const stream = connection.stream(path.watch, metadata, {
      onMessage: (bytes) => this.onWatchMessage(watch, decodeWatch(bytes)),
      onEnd: (error) => {
        if (!this.watches.has(watch)) return;
        if (!(error instanceof TokenError)) this.moveOn(connection);
        else this.token = null;
        this.endWatch(watch, error);
      },
    });
    if (stream === null) throw new EtcdError('not-sent', 'etcd: the connection is gone.');
    watch.cut = () => stream.cancel(new EtcdError('no-answer', 'etcd: the watch was cancelled.'));
    stream.send(encodeWatch(watch.prefix, fromRevision));
  }

  private onWatchMessage(watch: Watch, message: WatchMessage): void {
    if (!this.watches.has(watch)) return;
    this.answeredAtMs = this.clock.now();
    if (message.cancelled) {
      const compacted = message.compactRevision > 0;
      const why = message.reason === '' ? 'the server cancelled the watch' : message.reason;
      this.endWatch(watch, new EtcdError(compacted ? 'compacted' : 'no-answer', `etcd: ${why}.`));
      watch.cut?.();
    } else if (message.created) watch.handlers.onOpen();
    else if (message.changes.length > 0) {
      watch.handlers.onChanges(message.revision, message.changes);
    }
  }

  private endWatch(watch: Watch, error: unknown): void {
    if (!this.watches.delete(watch)) return;
    const known = error instanceof EtcdError;
    watch.handlers.onEnd(known ? error : new EtcdError('no-answer', String(error)));
  }

  private armHeartbeat(): void {
    if (this.cancelHeartbeat !== null || this.closed) return;
    this.cancelHeartbeat = this.clock.at(this.clock.now() + heartbeatMs, () => {
      this.cancelHeartbeat = null;
      const [watch] = this.watches;
      if (watch === undefined) return;
      this.armHeartbeat();
      if (this.clock.now() - this.answeredAtMs >= heartbeatMs * 0.9) this.beat(watch.prefix);
    });
  }

  /** A failing heartbeat has already moved on to another endpoint; there is nothing more to do about it. */
  private beat(key: string): void {
    const read = this.caller(path.range, encodeProofRead(key), decodeHeader);
    this.once(attemptMs, read).catch((error: unknown) => {
      this.options.log.debug('A heartbeat to etcd failed.', {
        event: 'etcd-heartbeat-failed',
        reason: String(error),
      });
    });
  }
}

type EtcdCall<T> = (connection: GrpcConnection, limitMs: number) => Promise<T>;

interface Watch {
  readonly prefix: string;
  readonly handlers: WatchHandlers;
  cut: (() => void) | null;
}

/** The endpoint as a URL. `127.0.0.1:2379` alone means http, or https where TLS is configured. */
function endpointUrl(endpoint: string, tls: EtcdClientOptions['tls']): string {
  const isSecure = tls !== undefined && Object.keys(tls).length > 0;
  const full = endpoint.includes('://') ? endpoint : `${isSecure ? 'https' : 'http'}://${endpoint}`;
  const url = URL.parse(full);
  const isBare = full !== endpoint && !/:\d{1,5}$/.test(endpoint);
  if (isBare || url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError(
      `etcd: "${endpoint}" is not an endpoint; it must look like http://127.0.0.1:2379.`,
    );
  }
  return full;
}
