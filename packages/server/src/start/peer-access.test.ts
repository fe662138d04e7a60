import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VirtualClock } from '@carillon/core/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { StartError } from '../access/start-rule.ts';
import { loadConfig } from '../config/load.ts';
import { PeerAccess } from './peer-access.ts';
import { Certificates, hasOpenssl } from '../network/certificates.contract.ts';
import type { Credentials } from '../network/credentials.ts';

const first = 'a'.repeat(32);
const second = 'b'.repeat(32);
let folder: string;
let lines: string[];
const opened: PeerAccess[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-peers-'));
  lines = [];
});
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
  rmSync(folder, { recursive: true });
});

async function open(flags: Record<string, string>, peerListen: string | null = '10.0.0.1:7353') {
  const loaded = loadConfig({ flags });
  if (!loaded.ok) throw new Error(loaded.problems.join(' '));
  const line = (message: string, fields: object = {}): void => {
    lines.push(`${message} ${JSON.stringify(fields)}`);
  };
  const access = await PeerAccess.open({
    config: loaded.config,
    name: 'a',
    peerListen,
    clock: new VirtualClock(),
    log: { debug: line, info: line, warn: line, error: line },
  });
  opened.push(access);
  return access;
}

function secretFile(text: string): string {
  const path = join(folder, 'secret');
  writeFileSync(path, text);
  return path;
}

describe('a peer port without authentication', () => {
  test.each(['10.0.0.1:7353', '0.0.0.0:7353', '[::]:7353', '127.evil.example:7353'])(
    'at %s the member does not start, and says which options help',
    async (peerListen) => {
      await expect(open({}, peerListen)).rejects.toThrow(StartError);
      await expect(open({}, peerListen)).rejects.toThrow(
        /--cluster-secret-file.*--insecure-no-auth/,
      );
    },
  );

  test.each(['127.0.0.1:7353', '127.30.53.11:7353', '[::1]:7353', 'localhost:7353', null])(
    'at %s it starts',
    async (peerListen) => {
      expect((await open({}, peerListen)).credentials).toEqual({ secrets: [], tls: null });
      expect(lines).toEqual([]);
    },
  );

  test('it starts when told so in plain words, and the log says it', async () => {
    await open({ 'auth-insecure-no-auth': 'true' });
    expect(lines).toEqual([expect.stringContaining('taken for a member')]);
  });
});

describe('the secret of the cluster', () => {
  test('is read from its file: one, or two, with comments', async () => {
    const path = secretFile(`# since March\n${first}\n\n`);
    const access = await open({ 'cluster-secret-file': path });
    expect(access.credentials.secrets).toEqual([first]);
    secretFile(`${second}\r\n${first}`);
    const heard: Credentials[] = [];
    access.changed = (credentials) => heard.push(credentials);
    await access.reload();
    expect(heard).toEqual([{ secrets: [second, first], tls: null }]);
  });

  test.each([
    ['nothing', '# none\n'],
    ['a short one', 'too short'],
    ['three', `${first}\n${second}\n${'c'.repeat(32)}`],
  ])('a file with %s is refused at the start, and later the old secret stays', async (_, text) => {
    const path = secretFile(text);
    await expect(open({ 'cluster-secret-file': path })).rejects.toThrow(StartError);
    secretFile(first);
    const access = await open({ 'cluster-secret-file': path });
    secretFile(text);
    await access.reload();
    expect(access.credentials.secrets).toEqual([first]);
    expect(lines).toEqual([expect.stringContaining('everything stays as it was')]);
    expect(lines[0]).not.toContain(second);
  });

  test('a file that is not there is refused with its name', async () => {
    await expect(open({ 'cluster-secret-file': '/nowhere/secret' })).rejects.toThrow(
      /\/nowhere\/secret.*ENOENT/,
    );
  });

  test('is not looked for where there are no peers', async () => {
    const access = await open({ 'cluster-secret-file': '/nowhere/secret' }, null);
    expect(access.credentials.secrets).toEqual([]);
  });
});

describe.skipIf(!hasOpenssl)('the certificate for other members', () => {
  let certificates: Certificates;
  beforeAll(() => {
    certificates = new Certificates();
    certificates.authority('ca');
    certificates.issue('ca', 'a', 'DNS:a', 'DNS:a.example');
    certificates.issue('ca', 'b', 'DNS:b');
  });
  afterAll(() => certificates.remove());

  const flags = (certificate: string, key = certificate): Record<string, string> => ({
    'cluster-tls-certificate': certificates.path(`${certificate}.crt`),
    'cluster-tls-key': certificates.path(`${key}.key`),
    'cluster-tls-ca': certificates.path('ca.crt'),
  });

  test('is read with its key and authority', async () => {
    const { credentials } = await open(flags('a'));
    expect(credentials.tls?.cert).toContain('BEGIN CERTIFICATE');
    expect(credentials.tls?.key).toContain('PRIVATE KEY');
  });

  test.each([
    ['of another member', 'b', 'b', 'does not name this member: "a"'],
    ['with the key of another', 'a', 'b', 'do not fit together'],
  ])('one %s is refused, and the sentence tells no secret', async (_, certificate, key, says) => {
    const refused = open(flags(certificate, key));
    await expect(refused).rejects.toThrow(says);
    await expect(refused).rejects.not.toThrow('PRIVATE');
  });

  test('files that are none are refused', async () => {
    const path = secretFile('not a certificate');
    await expect(open({ ...flags('a'), 'cluster-tls-certificate': path })).rejects.toThrow(
      StartError,
    );
    await expect(open({ ...flags('a'), 'cluster-tls-ca': path })).rejects.toThrow(StartError);
    writeFileSync(path, '');
    await expect(open({ ...flags('a'), 'cluster-tls-ca': path })).rejects.toThrow(StartError);
  });
});
