import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../../testing/command-line.ts';
import type { Answer, Asked } from '../../testing/world.ts';

const finding = (weight: string, says: string) => ({
  id: 'x',
  weight,
  member: null,
  says,
  do: 'Do this.',
});
const facts = {
  name: 'n0',
  release: '0.2.0',
  'up-ms': 61_000,
  'clock-offset-ms': -3,
  'disk-room': { 'free-bytes': 5 * 1024 ** 3, 'total-bytes': 10 * 1024 ** 3 },
  'fsync-p99-ms': 2.5,
  'open-files': { now: 40, max: 1024 },
  connections: { now: 1, max: 10 },
  timers: { now: 5, max: 100 },
  letters: { now: 0, max: 10 },
};
const answerOf = (findings: readonly object[], verdict: string) => ({
  at: '2026-01-01T00:00:00.000Z',
  verdict,
  findings,
  members: [facts],
  missing: [],
});

function doctor(args: readonly string[], script: (asked: Asked) => Answer) {
  return runCommand(['doctor', ...args], script);
}

test('findings come with advice, and something wrong is exit 1', async () => {
  const findings = [finding('wrong', 'n1 does not answer.'), finding('look', 'A receiver fails.')];
  const { code, out } = await doctor([], () => ({ body: answerOf(findings, 'wrong') }));
  expect(code).toBe(1);
  const text = out.join('\n');
  expect(text).toContain('wrong  n1 does not answer.\n       Do this.\nlook   A receiver fails.');
  expect(text).toMatch(
    /n0 +0\.2\.0 +1m +-3 ms +5\.0 GiB +2\.5ms +40 of 1024 +1 of 10 +5 of 100 +0 of 10/,
  );
});

test('findings that need a look, and notes, are no failure; without any all is well', async () => {
  const look = await doctor([], () => ({ body: answerOf([finding('look', 'A.')], 'look') }));
  expect(look.code).toBe(0);
  expect(look.out.join('\n')).not.toContain('All is well');
  const note = await doctor([], () => ({ body: answerOf([finding('note', 'B.')], 'well') }));
  expect(note.code).toBe(0);
  expect(note.out.join('\n')).toMatch(/^All is well\.\nnote {3}B\./);
});

test('--json prints the answer as it is', async () => {
  const body = answerOf([], 'well');
  const { out } = await doctor(['--json'], () => ({ body }));
  expect(JSON.parse(out.join(''))).toEqual(body);
});

test('--bundle writes a file that only its owner can read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-doctor-'));
  const file = join(folder, 'bundle.json');
  const bundle = { doctor: answerOf([], 'well'), cluster: {}, metrics: [], config: {} };
  const { code, err } = await doctor(['--bundle', file], ({ path }) =>
    path === '/doctor/bundle' ? { body: bundle } : { status: 500 },
  );
  expect(code).toBe(0);
  expect(err.join('\n')).toContain('Read it before you send it.');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(bundle);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  await rm(folder, { recursive: true });
});

test('a member of a release that examines nothing says so', async () => {
  const { code, err } = await doctor([], () => ({ status: 404, body: { status: 404 } }));
  expect(code).toBe(1);
  expect(err.join('\n')).toContain('examines nothing');
});
