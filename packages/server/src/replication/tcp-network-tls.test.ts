import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { TcpNetwork, type TcpNetworkOptions } from './tcp-network.ts';

const openssl = spawnSync('openssl', ['version']).status === 0;

// Certificates are made on the spot with the openssl command; without it there is nothing to test with.
describe.skipIf(!openssl)('TcpNetwork over TLS', () => {
  let folder: string;
  const opened: TcpNetwork[] = [];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-tls-'));
    for (const authority of ['ours', 'theirs']) {
      issueAuthority(folder, authority);
      issueMember(folder, authority);
    }
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((network) => network.close()));
  });

  function member(tls: TcpNetworkOptions['tls'], secret: string | null = null): TcpNetwork {
    const quiet = (): void => {};
    const network = new TcpNetwork({
      clock: new SystemClock(),
      random: new SystemRandom(),
      log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      listen: { host: '127.0.0.1', port: 0 },
      release: '0.1.0',
      secret,
      tls: tls ?? null,
    });
    opened.push(network);
    return network;
  }

  function files(authority: string): NonNullable<TcpNetworkOptions['tls']> {
    const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
    return {
      key: read(`${authority}-member.key`),
      cert: read(`${authority}-member.crt`),
      ca: read(`${authority}.crt`),
    };
  }

  async function answered(caller: TcpNetwork, callee: TcpNetwork): Promise<boolean> {
    await callee.listen((frame, reply) => reply(frame));
    return new Promise((resolve) => {
      caller.call(callee.address, new Uint8Array([1, 2]), 3000, (answer) =>
        resolve(answer?.length === 2),
      );
    });
  }

  test('members with certificates of one authority talk, with a secret on top if there is one', async () => {
    const ours = files('ours');
    expect(await answered(member(ours), member(ours))).toBe(true);
    expect(await answered(member(ours, 's'), member(ours, 's'))).toBe(true);
    expect(await answered(member(ours, 's'), member(ours, 'other'))).toBe(false);
  });

  test('a caller whose certificate another authority signed is refused', async () => {
    const stranger = { ...files('theirs'), ca: files('ours').ca };
    expect(await answered(member(stranger), member(files('ours')))).toBe(false);
  });

  test('a callee whose certificate another authority signed is refused', async () => {
    const stranger = { ...files('theirs'), ca: files('ours').ca };
    expect(await answered(member(files('ours')), member(stranger))).toBe(false);
  });

  test('a member without TLS gets nowhere', async () => {
    expect(await answered(member(null), member(files('ours')))).toBe(false);
    expect(await answered(member(files('ours')), member(null))).toBe(false);
  });
});

const newKey = 'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';

function issueAuthority(folder: string, name: string): void {
  run(folder, `${newKey} -x509 -keyout ${name}.key -out ${name}.crt -days 2 -subj /CN=${name}`);
}

function issueMember(folder: string, authority: string): void {
  const name = `${authority}-member`;
  const signer = `-CA ${authority}.crt -CAkey ${authority}.key -CAcreateserial`;
  writeFileSync(join(folder, 'names.cnf'), 'subjectAltName=IP:127.0.0.1\n');
  run(folder, `${newKey} -keyout ${name}.key -out ${name}.csr -subj /CN=member`);
  run(folder, `x509 -req -in ${name}.csr ${signer} -days 2 -extfile names.cnf -out ${name}.crt`);
}

function run(folder: string, command: string): void {
  execFileSync('openssl', command.split(' '), { cwd: folder, stdio: 'ignore' });
}
