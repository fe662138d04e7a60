import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inPlainWords, isWrongFile } from './plain-words.ts';

test.each([
  ["ENOENT: no such file or directory, open '/x/y'", 'There is no file or folder /x/y.'],
  [
    "The file f cannot be read: ENOENT: no such file or directory, stat 'f'",
    'The file f cannot be read: there is no file or folder f.',
  ],
  [
    "Could not create the folder /ro/x/y: EROFS: read-only file system, mkdir '/ro/x'.",
    'Could not create the folder /ro/x/y: /ro/x is on a read-only file system.',
  ],
  [
    "Could not create the folder /proc/x: ENOENT: no such file or directory, mkdir '/proc/x'.",
    'Could not create the folder /proc/x: no folder /proc/x can be created there.',
  ],
  ["EACCES: permission denied, open '/root/x'", 'This user may not open /root/x.'],
  ['EISDIR: illegal operation on a directory, read', 'It is a folder, not a file.'],
  ["ENOTDIR: not a directory, open '/a/b'", 'A part of the path /a/b is a file, not a folder.'],
  [
    'listen EADDRINUSE: address already in use 127.0.0.1:7253',
    '127.0.0.1:7253 is taken by another program.',
  ],
  [
    'listen EADDRNOTAVAIL: address not available 1.2.3.4:80',
    'This machine has no address 1.2.3.4:80.',
  ],
  [
    'No member answered (http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1). Is it there?',
    'No member answered (http://127.0.0.1:1: connection refused). Is it there?',
  ],
  [
    'No member answered (http://no.test:1: getaddrinfo ENOTFOUND no.test).',
    'No member answered (http://no.test:1: no host is called no.test).',
  ],
  [
    'etcd http://127.0.0.1:1 /etcdserverpb.KV/Range: The pending stream has been canceled (caused by: connect ECONNREFUSED 127.0.0.1:1).',
    'etcd at http://127.0.0.1:1 does not answer (connection refused).',
  ],
  [
    'etcd http://127.0.0.1:1 /etcdserverpb.Lease/LeaseGrant: permission denied.',
    'etcd at http://127.0.0.1:1: permission denied.',
  ],
  ['carillon set: --factor must be a number.', 'carillon set: --factor must be a number.'],
])('%s is said as: %s', (text, plain) => {
  expect(inPlainWords(text)).toBe(plain);
});

function thrown(path: string): unknown {
  try {
    return readFileSync(path);
  } catch (error) {
    return error;
  }
}

test('a file that is missing, or a folder in its place, is a wrong file; also as the cause of another error', () => {
  const missing = thrown('/no/such/file');
  expect(isWrongFile(missing)).toBe(true);
  expect(isWrongFile(new Error('The topology cannot be read.', { cause: missing }))).toBe(true);
  expect(isWrongFile(thrown('/'))).toBe(true);
  expect(isWrongFile(new Error('anything else'))).toBe(false);
  const taken = Object.assign(new Error('listen'), { code: 'EACCES', syscall: 'listen' });
  expect(isWrongFile(taken)).toBe(false);
});
