/**
 * Opens connections to receivers, guarded: every address a name resolves to is judged, the socket can only go to
 * addresses that passed, and the address it ended at is judged again before the first request is written.
 */
import { isIP, type LookupFunction, connect as plainConnect, type Socket } from 'node:net';
import { connect as secureConnect } from 'node:tls';
import type { Clock } from '@carillon/core';
import type { Guard } from './guard/guard.ts';
import type { Resolve } from './guard/resolve.ts';

const tcpKeepAliveMs = 60_000;
/**
 * A connection that takes up a session shows no certificate, and brings the session for the next one. Without a limit a
 * receiver whose certificate has expired, or names another host by now, would never be asked for it.
 */
const sessionMsMax = 600_000;

/** The guard said no. */
export class ForbiddenError extends Error {
  override readonly name = 'ForbiddenError';
}

/** The name has no addresses. */
export class UnresolvableError extends Error {
  override readonly name = 'UnresolvableError';
}

export interface Receiver {
  /** An address without brackets, or a name. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

/** Opens a connection and hands it over, or says why there is none. Never inside the call. */
export type Connect = (
  done: (...result: [error: null, socket: Socket] | [error: Error, socket: null]) => void,
) => void;

/** The connection did not come about in time. */
class TimeoutError extends Error {
  override readonly name = 'TimeoutError';
  readonly code = 'ETIMEDOUT';
}

export interface ConnectOptions {
  readonly clock: Clock;
  readonly guard: Guard;
  readonly resolve: Resolve;
  /** How long connecting may take, resolving and TLS included. */
  readonly limitMs: number;
  /** Certificates to trust instead of the usual ones (PEM). */
  readonly ca?: string;
  /** Told of every address a connection was made to. */
  readonly onConnect: (address: string) => void;
}

export function receiverOf(origin: string): Receiver {
  const { protocol, hostname, port } = new URL(origin);
  const secure = protocol === 'https:';
  const usual = secure ? 443 : 80;
  const host = hostname.replace(/^\[|\]$/g, '');
  return { host, port: port === '' ? usual : Number(port), secure };
}

/** null: may be tried. A name may still turn out to lead somewhere forbidden. */
export function judgeReceiver(guard: Guard, { host, port }: Receiver): string | null {
  return isIP(host) === 0 ? guard.judgeName(host, port) : guard.judge(host, port);
}

export function guardedConnect(receiver: Receiver, options: ConnectOptions): Connect {
  const { guard } = options;
  const opening = new Opening(receiver, options);
  return (done) => {
    // An address is never looked up, so it is judged here.
    const refusal = judgeReceiver(guard, receiver);
    if (refusal !== null) {
      queueMicrotask(() => done(new ForbiddenError(refusal), null));
      return;
    }
    opening.begin((...[error, socket]) => {
      if (error !== null) {
        done(error, null);
        return;
      }
      const { remoteAddress = '' } = socket;
      const late = guard.judge(remoteAddress, receiver.port);
      if (late === null) {
        options.onConnect(remoteAddress);
        done(null, socket);
      } else {
        socket.destroy();
        done(new ForbiddenError(late), null);
      }
    });
  };
}

/** Sockets to one receiver, up to where the first request can be written. */
class Opening {
  private readonly receiver: Receiver;
  private readonly options: ConnectOptions;
  private readonly lookup: LookupFunction;
  /** The session of the last TLS connection: with it the next one takes a round trip less. */
  private session: Buffer | undefined;
  /** When the next connection has to show a certificate again. */
  private sessionEndMs = 0;

  constructor(receiver: Receiver, options: ConnectOptions) {
    this.receiver = receiver;
    this.options = options;
    this.lookup = guardedLookup(receiver, options);
  }

  begin(done: Parameters<Connect>[0]): void {
    const { clock, limitMs } = this.options;
    const socket = this.receiver.secure ? this.secure() : this.plain();
    socket.setNoDelay(true);
    socket.setKeepAlive(true, tcpKeepAliveMs);
    let open = false;
    const cancel = clock.at(clock.now() + limitMs, () =>
      socket.destroy(new TimeoutError('No connection in time.')),
    );
    socket.once(this.receiver.secure ? 'secureConnect' : 'connect', () => {
      open = true;
      cancel();
      done(null, socket);
    });
    // Stays for as long as the socket: an error event without a listener would end the member.
    socket.on('error', (error) => {
      cancel();
      if (!open) done(error, null);
      open = true;
    });
  }

  private plain(): Socket {
    const { host, port } = this.receiver;
    return plainConnect({ host, port, lookup: this.lookup });
  }

  private secure(): Socket {
    const { host, port } = this.receiver;
    const { ca, clock } = this.options;
    const { lookup } = this;
    const session = clock.now() < this.sessionEndMs ? this.session : undefined;
    const socket = secureConnect({
      host,
      port,
      lookup,
      servername: isIP(host) === 0 ? host : '',
      ALPNProtocols: ['http/1.1'],
      ...(session === undefined ? {} : { session }),
      ...(ca === undefined ? {} : { ca }),
    });
    // The event `session` comes only after the certificate was verified.
    return socket.on('session', (made: Buffer) => {
      if (!socket.isSessionReused()) this.sessionEndMs = clock.now() + sessionMsMax;
      this.session = made;
    });
  }
}

/** One forbidden address spoils the name: a mixture is how a name is made to lead elsewhere later. */
function guardedLookup(receiver: Receiver, { guard, resolve }: ConnectOptions): LookupFunction {
  return (name, lookupOptions, done) => {
    resolve(name, (addresses) => {
      const [first] = addresses;
      if (first === undefined) {
        done(new UnresolvableError('The receiver has no address in DNS.'), '', 0);
        return;
      }
      for (const address of addresses) {
        const refusal = guard.judge(address, receiver.port);
        if (refusal === null) continue;
        done(new ForbiddenError(refusal), '', 0);
        return;
      }
      if (lookupOptions.all !== true) done(null, first, isIP(first));
      else
        done(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        );
    });
  };
}
