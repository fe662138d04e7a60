import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

let top: string;

beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'carillon-folders-'));
});
afterAll(() => rmSync(top, { recursive: true }));

test('a folder is made with all above it, for its owner only', () => {
  makeFolder(join(top, 'a/b/c'));
  expect(statSync(join(top, 'a/b/c')).mode & 0o777).toBe(0o700);
  expect(statSync(join(top, 'a')).mode & 0o777).toBe(0o700);
});

test('a folder that is there, or that a link leads to, stays as it is', () => {
  mkdirSync(join(top, 'there'), { mode: 0o755 });
  symlinkSync(join(top, 'there'), join(top, 'link'));
  makeFolder(join(top, 'there'));
  makeFolder(join(top, 'link'));
  expect(statSync(join(top, 'there')).mode & 0o777).toBe(0o755);
});

test('a file in the way is an error, at the end of the path and within it', () => {
  writeFileSync(join(top, 'file'), '');
  expect(() => makeFolder(join(top, 'file'))).toThrow('EEXIST');
  expect(() => makeFolder(join(top, 'file/below/it'))).toThrow('ENOTDIR');
});

// Only Linux has /proc. `mkdir` with `recursive` never comes back there.
test.runIf(existsSync('/proc/self'))('a folder that takes no new names is an error', () => {
  expect(() => makeFolder('/proc/carillon')).toThrow('ENOENT');
  expect(() => makeFolder('/proc/carillon/below/it')).toThrow('ENOENT');
});
