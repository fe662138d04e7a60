import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { defaultConfig } from '../../config/config.ts';
import { etcdAccess } from './etcd-access.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-etcd-access-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const plain = defaultConfig.etcd;

test('nothing is sent to an etcd that asks for nothing', () => {
  expect(etcdAccess(plain)).toEqual({});
});

test('files become PEM texts, and the line of a password file its password', () => {
  const given = {
    ...plain,
    ca: file('ca.pem', 'CA'),
    certificate: file('cert.pem', 'CERT'),
    key: file('key.pem', 'KEY'),
    user: 'ada',
    password: 'not this one',
    passwordFile: file('password', 'rosebud\n'),
  };
  expect(etcdAccess(given)).toEqual({
    tls: { ca: 'CA', cert: 'CERT', key: 'KEY' },
    auth: { user: 'ada', password: 'rosebud' },
  });
  const fromEnvironment = { ...plain, user: 'ada', password: 'rosebud' };
  expect(etcdAccess(fromEnvironment)).toEqual({ auth: { user: 'ada', password: 'rosebud' } });
});

test('a file that is not there is named with its option', () => {
  expect(() => etcdAccess({ ...plain, ca: '/no/such/file' })).toThrow(
    /etcd\.ca cannot be read: .*\/no\/such\/file/,
  );
});
