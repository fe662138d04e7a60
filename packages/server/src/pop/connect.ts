/**
 * Opens connections to receivers, guarded: every address a name resolves to is judged, the socket can only go to
 * those, and the address it ended at is judged again before the first request is written.
 */
import { isIP, type LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { Guard } from './guard.ts';
import type { Resolve } from './resolve.ts';

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
}

export interface ConnectOptions {
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
  const usual = protocol === 'https:' ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? usual : Number(port) };
}

/** null: may be tried. A name may still turn out to lead somewhere forbidden. */
export function judgeReceiver(guard: Guard, { host, port }: Receiver): string | null {
  return isIP(host) === 0 ? guard.judgeName(host, port) : guard.judge(host, port);
}

export function guardedConnector(
  receiver: Receiver,
  options: ConnectOptions,
): buildConnector.connector {
  const { guard, limitMs, ca } = options;
  const connect = buildConnector({
    lookup: guardedLookup(receiver, options),
    timeout: limitMs,
    allowH2: false,
    ...(ca === undefined ? {} : { ca }),
  });
  return (target, done) => {
    // An address is never looked up, so it is judged here.
    const refusal = judgeReceiver(guard, receiver);
    if (refusal !== null) {
      queueMicrotask(() => done(new ForbiddenError(refusal), null));
      return;
    }
    connect(target, (...[error, socket]) => {
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
