/** Receivers by HTTPS whose certificate is wrong, or becomes wrong between two pops. */
import { EventEmitter } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { CallbackResult } from '@carillon/core';
import { settle, VirtualClock } from '@carillon/core/testing';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { HttpCallbacks } from './callback.ts';
import { Guard } from './guard/guard.ts';
import { type Certificate, hasOpenssl, selfSigned } from './testing/self-signed.ts';
import { splitUri } from './uri.ts';

type Version = 'TLSv1.2' | 'TLSv1.3';

const clock = new VirtualClock();
const guard = new Guard({ allow: [], loopback: true, denied: () => [] });
/** Keys of session tickets: they stay when the certificate changes, so earlier tickets are still accepted. */
const ticketKeys = Buffer.alloc(48, 7);
let callbacks: HttpCallbacks;
let server: Server;
let uri: string;
/** Of each request: whether its connection took up a session of another. */
let resumed: boolean[];

/** A receiver that answers each request on a connection of its own. */
async function serve(
  certificate: Certificate,
  version: Version,
  trusted: readonly Certificate[],
): Promise<void> {
  resumed = [];
  const versions = { minVersion: version, maxVersion: version };
  server = createServer({ ...certificate, ...versions, ticketKeys }, ({ socket }, response) => {
    resumed.push((socket as TLSSocket).isSessionReused());
    response.writeHead(202, { connection: 'close' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  uri = `https://receiver.example:${(server.address() as AddressInfo).port}/`;
  const ca = trusted.map(({ cert }) => cert).join('\n');
  callbacks = new HttpCallbacks({ clock, guard, ca, resolve: (_, done) => done(['127.0.0.1']) });
}

async function call(): Promise<number | string> {
  const results: CallbackResult[] = [];
  const body = new Uint8Array();
  const usual = { namespace: 'default', method: 'POST', headers: {}, body, limitMs: 5000 };
  callbacks.call({ uri, split: splitUri(uri), ...usual }, (result) => results.push(result));
  while (results.length === 0) await clock.advance(0);
  // The connection is closed, and a session that came with it is known.
  for (let i = 0; i < 20; i++) await settle();
  const [result] = results;
  if (result?.kind === 'answer') return result.status;
  return result?.kind === 'no-answer' ? result.reason : 'unmade';
}

/** Each connection that takes up a session brings a new ticket, as from servers that are not Node's. */
function renewTickets(): void {
  function renewing(this: TLSSocket, event: string, ...given: unknown[]): boolean {
    const isResumed = event === 'secureConnect' && this.isSessionReused();
    const isHeard = EventEmitter.prototype.emit.call(this, event, ...given);
    if (isResumed) EventEmitter.prototype.emit.call(this, 'session', this.getSession());
    return isHeard;
  }
  Object.defineProperty(TLSSocket.prototype, 'emit', { value: renewing, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(TLSSocket.prototype, 'emit'));
}

afterEach(async () => {
  await callbacks.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

// Certificates are made by openssl; where it is missing there is nothing to connect to.
describe.skipIf(!hasOpenssl()).each<Version>(['TLSv1.2', 'TLSv1.3'])('by %s', (version) => {
  const right = selfSigned('receiver.example');
  const other = selfSigned('other.example');

  it('a trusted certificate for another name is refused at every attempt', async () => {
    await serve(other, version, [other]);
    expect([await call(), await call(), await call()]).toEqual(['tls', 'tls', 'tls']);
    expect(resumed).toEqual([]);
  });

  it('a receiver whose certificate changes to one for another name is refused from then on', async () => {
    await serve(right, version, [right, other]);
    expect(await call()).toBe(202);
    const versions = { minVersion: version, maxVersion: version };
    server.setSecureContext({ ...other, ...versions, ticketKeys: Buffer.alloc(48, 8) });
    expect([await call(), await call(), await call()]).toEqual(['tls', 'tls', 'tls']);
    expect(resumed).toEqual([false]);
  });

  it.each([
    ['one ticket', false],
    ['a new ticket with each connection', true],
  ])(
    'a session spares a certificate for ten minutes, however often it is taken up: %s',
    async (_, isRenewed) => {
      if (isRenewed) renewTickets();
      await serve(right, version, [right, other]);
      expect(await call()).toBe(202);
      for (let i = 0; i < 11; i++) {
        await clock.advance(50_000);
        expect(await call()).toBe(202);
      }
      expect(resumed).toEqual([false, ...Array.from({ length: 11 }, () => true)]);
      const versions = { minVersion: version, maxVersion: version };
      server.setSecureContext({ ...other, ...versions, ticketKeys });
      await clock.advance(51_000);
      expect([await call(), await call()]).toEqual(['tls', 'tls']);
    },
  );
});
