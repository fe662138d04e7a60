import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../config/load.ts';
import { tryAddresses } from './free-address.ts';
import { identify, logGuesses, otherAddressHint, withOwnHosts } from './identity.ts';

function configured(flags: Record<string, string>) {
  const loaded = loadConfig({ flags });
  if (!loaded.ok) throw new Error(loaded.problems.join(' '));
  return loaded.config;
}

const etcd = { 'cluster-etcd-endpoints': 'http://127.0.0.1:2379' };
const outer = Object.values(networkInterfaces())
  .flatMap((one) => one ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe('alone', () => {
  test('a member is known by where it listens, and has no peers', async () => {
    expect(await identify(configured({ listen: '127.0.0.1:9' }))).toEqual({
      name: '127.0.0.1:9',
      listen: '127.0.0.1:9',
      address: '127.0.0.1:9',
      peerListen: null,
      peer: null,
    });
  });

  test('the advertised addresses can be configured', async () => {
    const flags = { listen: '0.0.0.0:9', 'advertise-api': 'timers.example:80' };
    const { listen, address } = await identify(configured(flags));
    expect([listen, address]).toEqual(['0.0.0.0:9', 'timers.example:80']);
  });
});

describe('names that clients may use without tokens', () => {
  test('are the ones that it listens at, is advertised by, or finds in access.hosts', async () => {
    const flags = {
      listen: 'localhost:9',
      'advertise-api': 'timers.example:80',
      'access-hosts': 'other.example',
    };
    const config = configured(flags);
    const { access } = withOwnHosts(config, await identify(config));
    expect(access.hosts).toEqual(['other.example', 'localhost', 'timers.example']);
  });
});

describe('on etcd', () => {
  test('peers are listened for beside the API, 100 ports higher', async () => {
    const { name, peerListen, peer } = await identify(
      configured({ ...etcd, listen: '[::1]:7000' }),
    );
    expect([name, peerListen, peer]).toEqual(['[::1]:7100', '[::1]:7100', '[::1]:7100']);
  });

  test('each address that is told can be said, and the name follows it', async () => {
    const flags = {
      ...etcd,
      listen: '0.0.0.0:7253',
      'cluster-peer-listen': '0.0.0.0:9353',
      'advertise-api': '10.0.0.1:80',
      'advertise-peer': '10.0.0.1:9999',
    };
    expect(await identify(configured(flags))).toEqual({
      name: '10.0.0.1:9999',
      listen: '0.0.0.0:7253',
      address: '10.0.0.1:80',
      peerListen: '0.0.0.0:9353',
      peer: '10.0.0.1:9999',
    });
  });

  test.skipIf(outer === undefined)(
    'every address is told as the first outer one of the machine, and the log says so',
    async () => {
      const config = configured({ ...etcd, listen: '0.0.0.0:7253' });
      const identity = await identify(config);
      expect([identity.address, identity.peer]).toEqual([`${outer}:7253`, `${outer}:7353`]);
      const lines: string[] = [];
      const line = (message: string): void => {
        lines.push(message);
      };
      const log = { debug: line, info: line, warn: line, error: line };
      logGuesses(config, identity, log);
      expect(lines).toEqual([
        expect.stringContaining('--advertise '),
        expect.stringContaining('--advertise-peer '),
      ]);
      const plain = configured({ ...etcd, listen: '10.0.0.1:7253' });
      logGuesses(plain, await identify(plain), log);
      expect(lines).toHaveLength(2);
    },
  );
});

describe('in a members file', () => {
  let folder: string;
  let file: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'carillon-identity-'));
    file = join(folder, 'members.json');
    const members = [{ name: 'a', address: '10.0.0.1:7253', peer: '10.0.0.1:7353' }];
    writeFileSync(file, JSON.stringify({ members }));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('the address in the members file goes before the one a member listens at', async () => {
    const flags = {
      name: 'a',
      'cluster-members-file': file,
      listen: '0.0.0.0:80',
      'cluster-peer-listen': '0.0.0.0:81',
    };
    expect(await identify(configured(flags))).toEqual({
      name: 'a',
      listen: '0.0.0.0:80',
      address: '10.0.0.1:7253',
      peerListen: '0.0.0.0:81',
      peer: '10.0.0.1:7353',
    });
  });

  test('a member whose name is not in the file is told the names that are', async () => {
    const config = configured({ name: 'b', 'cluster-members-file': file });
    await expect(identify(config)).rejects.toThrow(
      /lists a, but not "b": --name must be one of them\.$/,
    );
  });

  test('a member without a name is told to say which of the file it is', async () => {
    const config = configured({ 'cluster-members-file': file });
    await expect(identify(config)).rejects.toThrow(
      /lists a: say with --name which of them this member is\.$/,
    );
  });

  test('a fault in the file is told with the name of the file', async () => {
    writeFileSync(file, '{"members":[{"name":"a","address":"10.0.0.1","peer":"10.0.0.1:7353"}]}');
    const config = configured({ name: 'a', 'cluster-members-file': file });
    await expect(identify(config)).rejects.toThrow(
      `The members file ${file}: members[0].address must be a text: host:port.`,
    );
  });

  test('another address than a taken one comes from where the taken one is from', () => {
    const inFile = configured({ name: 'a', 'cluster-members-file': 'm.json' });
    expect(otherAddressHint(inFile, 'listen')).toBe('The members file m.json names this one.');
    expect(otherAddressHint(inFile, 'peerListen')).toBe('The members file m.json names this one.');
    const given = configured({
      'cluster-members-file': 'm.json',
      listen: '127.0.0.1:80',
      'cluster-peer-listen': '127.0.0.1:81',
    });
    for (const config of [given, configured({})]) {
      expect(otherAddressHint(config, 'listen')).toBe('--listen HOST:PORT names another address.');
      expect(otherAddressHint(config, 'peerListen')).toContain('--peer-listen HOST:PORT');
    }
  });

  test('a taken address is told with the way to another one, and one that is no address is not', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    const peerListen = `127.0.0.1:${port}`;
    const identity = { name: 'a', listen: '127.0.0.1:0', address: '', peerListen, peer: null };
    await expect(tryAddresses(configured({}), identity)).rejects.toThrow(
      `address already in use ${peerListen}. Is a member running there already? --peer-listen`,
    );
    server.close();
    const strange = { ...identity, listen: '192.0.2.1:1', peerListen: null };
    await expect(tryAddresses(configured({}), strange)).rejects.toThrow(/192\.0\.2\.1:1$/);
  });
});
