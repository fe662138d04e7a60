import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import type { LogFields } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiCertificate } from '../start/api-certificate.ts';
import { configOf } from '../config/config.ts';
import { Certificates, hasOpenssl } from '../network/certificates.contract.ts';
import { Dialled, serving } from './listening.contract.ts';
import { type ApiResponse, textResponse } from './message.ts';
import type { Certificate } from './tls.ts';

describe.runIf(hasOpenssl)('TLS', () => {
  let files: Certificates;
  let first: Certificate & { ca: string };
  let second: Certificate & { ca: string };

  beforeAll(() => {
    files = new Certificates();
    files.authority('authority');
    first = files.issue('authority', 'first', 'DNS:first', 'IP:127.0.0.1');
    second = files.issue('authority', 'second', 'DNS:second', 'IP:127.0.0.1');
  });
  afterAll(() => files.remove());

  const secure = (port: number, options: ConnectionOptions = {}): Promise<TLSSocket> =>
    new Promise((resolve, reject) => {
      const socket = connect(
        { host: '127.0.0.1', port, ca: first.ca, ALPNProtocols: ['http/1.1'], ...options },
        () => resolve(socket),
      );
      socket.once('error', reject);
    });

  const ask = (port: number, body: string): Promise<{ text: string; headers: unknown }> =>
    new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port, method: 'POST', path: '/timers', ca: first.ca, agent: false },
        (response) => {
          void response
            .setEncoding('utf8')
            .toArray()
            .then((all) => resolve({ text: all.join(''), headers: response.headers }));
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });

  const names = (socket: TLSSocket): string | undefined =>
    socket.getPeerCertificate().subjectaltname;

  test('an ordinary client is served, and told to come back by TLS only', async () => {
    await using at = await serving(({ body }) => textResponse(`got ${body.length}`), {
      certificate: first,
    });
    const { text, headers } = await ask(at.port, 'x'.repeat(200_000));
    expect(text).toBe('got 200000');
    expect(headers).toMatchObject({ 'strict-transport-security': 'max-age=31536000' });
  });

  test('without TLS no answer asks for it', async () => {
    await using at = await serving(() => textResponse('OK'));
    const { headers } = await fetch(at.url);
    expect(headers.has('strict-transport-security')).toBe(false);
  });

  test('HTTP/1.1 is agreed on; pipelining, long answers and closing work as without TLS', async () => {
    const page = 'y'.repeat(1_000_000);
    await using at = await serving(
      ({ path }): ApiResponse => textResponse(path === '/' ? page : 'OK'),
      {
        certificate: first,
      },
    );
    const socket = await secure(at.port);
    expect(socket.alpnProtocol).toBe('http/1.1');
    const client = new Dialled(socket);
    client.send(
      'GET /a HTTP/1.1\r\nhost: localhost\r\n\r\nGET / HTTP/1.1\r\nhost: localhost\r\n\r\n',
    );
    client.send('GET /b HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    await client.closed;
    expect(client.statuses).toEqual([200, 200, 200]);
    expect(client.text.length).toBeGreaterThan(page.length);
    expect(client.error).toBeNull();
  });

  test.each<[string, ConnectionOptions]>([
    ['TLS 1.1', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }],
    ['HTTP/2 alone', { ALPNProtocols: ['h2'] }],
  ])('%s is refused', async (_, options) => {
    await using at = await serving(() => textResponse('OK'), { certificate: first });
    await expect(secure(at.port, options)).rejects.toThrow(/alert|protocol/);
    await expect.poll(() => at.metrics.httpRefused.count('malformed')).toBe(1);
  });

  test('a client that speaks HTTP without TLS is cut, and no other client suffers', async () => {
    await using at = await serving(() => textResponse('OK'), { certificate: first });
    const client = await at.dial();
    client.send('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await client.closed;
    expect(client.text).not.toContain('HTTP');
    expect((await ask(at.port, '')).text).toBe('OK');
  });

  test('a client that never finishes the handshake is cut, and does not hold up closing', async () => {
    await using at = await serving(() => textResponse('OK'), {
      certificate: first,
      overrides: { 'limits.headersTimeoutMs': 100 },
    });
    const silent = await at.dial();
    await silent.closed;
    const other = await at.dial();
    const closed = at.listener.close(60_000);
    await closed;
    await other.closed;
  });

  test.each([
    ['at once', ''],
    ['in the middle of its greeting', '160301002a0100'],
    ['behind its greeting', '160301002a01000026030300000000000000000000000000'],
  ])(
    'a client that leaves %s before the connection is secure holds no descriptor',
    async (_, sent) => {
      // The time limit is so late that only the client's end can close the connection.
      await using at = await serving(() => textResponse('OK'), {
        certificate: first,
        overrides: { 'limits.headersTimeoutMs': 600_000 },
      });
      const client = await at.dial();
      client.socket.end(Buffer.from(sent, 'hex'));
      await client.closed;
    },
  );

  test('a client that ends its side once the connection is secure still gets its answer', async () => {
    let release = (): void => {};
    const handle = (): Promise<ApiResponse> =>
      new Promise((resolve) => {
        release = () => resolve(textResponse('OK'));
      });
    await using at = await serving(handle, { certificate: first });
    const client = new Dialled(await secure(at.port));
    client.socket.end('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await expect.poll(() => at.metrics.httpInFlight.value).toBe(1);
    // By then the end of the first client has arrived, too.
    (await secure(at.port)).destroy();
    release();
    await client.closed;
    expect(client.text).toMatch(/OK$/);
  });

  test('close: a request under way is answered, then the connection closes', async () => {
    let release = (): void => {};
    const handle = (): Promise<ApiResponse> =>
      new Promise((resolve) => {
        release = () => resolve(textResponse('done'));
      });
    await using at = await serving(handle, { certificate: first });
    const client = new Dialled(await secure(at.port));
    client.send('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await expect.poll(() => at.metrics.httpInFlight.value).toBe(1);
    const closed = at.listener.close(30_000);
    release();
    await closed;
    await client.closed;
    expect(client.text).toMatch(/connection: close.*done$/s);
  });

  test('another certificate is for new connections; existing ones go on', async () => {
    await using at = await serving(() => textResponse('OK'), { certificate: first });
    const before = new Dialled(await secure(at.port));
    at.listener.replaceCertificate(second);
    const after = await secure(at.port);
    expect(names(before.socket as TLSSocket)).toContain('DNS:first');
    expect(names(after)).toContain('DNS:second');
    before.send('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await before.until(/OK$/);
    before.socket.destroy();
    after.destroy();
  });

  test('connections over the limit are closed before they cost a handshake', async () => {
    await using at = await serving(() => textResponse('OK'), {
      certificate: first,
      overrides: { 'limits.connectionCountMax': 1 },
    });
    const only = await secure(at.port);
    await expect(secure(at.port)).rejects.toThrow();
    expect(at.metrics.httpRefused.count('connections')).toBe(1);
    only.destroy();
  });

  test('bytes that are anything but a handshake crash nothing', async () => {
    await using at = await serving(() => textResponse('OK'), {
      certificate: first,
      overrides: { 'limits.headersTimeoutMs': 500 },
    });
    const hello = Buffer.from('160301002a01000026030300000000000000000000000000', 'hex');
    for (const bytes of [hello, Buffer.alloc(5000, 0x16), Buffer.from([0x16, 3, 1, 0xff, 0xff])]) {
      const socket = connectPlain(at.port, '127.0.0.1');
      socket.on('error', () => {});
      socket.end(bytes);
      socket.resume();
      await new Promise((resolve) => socket.once('close', resolve));
    }
    expect((await ask(at.port, '')).text).toBe('OK');
  });

  describe('from files', () => {
    const lines: string[] = [];
    const line = (message: string, fields?: LogFields): void => {
      lines.push(`${message} ${String(fields?.['reason'])}`);
    };
    const log = { debug: line, info: line, warn: line, error: line };
    const open = (certificate: string | null, key: string | null): Promise<ApiCertificate> =>
      ApiCertificate.open({
        config: configOf(
          new Map(Object.entries({ 'tls.certificate': certificate, 'tls.key': key })),
        ),
        clock: new VirtualClock(),
        log,
      });

    test('none configured: no TLS', async () => {
      expect((await open(null, null)).value).toBeNull();
    });

    test.each([
      ['a file that is not there', 'nowhere.crt', 'first.key', /ENOENT/],
      ['a key of another certificate', 'first.crt', 'second.key', /do not fit together/],
      ['a key where the certificate should be', 'first.key', 'first.key', /both as PEM/],
    ])('%s: the member does not start, and says why', async (_, certificate, key, why) => {
      const opening = open(files.path(certificate), files.path(key));
      await expect(opening).rejects.toThrow(why);
      await expect(opening).rejects.toMatchObject({ name: 'StartError' });
    });

    test('replaced ones are taken over, unless they cannot be used', async () => {
      const copy = (from: string): void => {
        for (const end of ['crt', 'key'])
          writeFileSync(files.path(`used.${end}`), readFileSync(files.path(`${from}.${end}`)));
      };
      copy('first');
      const opened = await open(files.path('used.crt'), files.path('used.key'));
      const told: Certificate[] = [];
      opened.changed = (certificate) => told.push(certificate);
      expect(opened.value?.cert).toBe(first.cert);
      writeFileSync(files.path('used.crt'), second.cert);
      await opened.reload();
      expect([opened.value?.cert, told]).toEqual([first.cert, []]);
      expect(lines.at(-1)).toMatch(/stays as it was.*do not fit together/);
      copy('second');
      await opened.reload();
      expect(opened.value?.cert).toBe(second.cert);
      expect(told.map(({ cert }) => cert)).toEqual([second.cert]);
      opened.close();
    });
  });
});
