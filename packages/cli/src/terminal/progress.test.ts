import { stripVTControlCharacters } from 'node:util';
import { afterEach, expect, test, vi } from 'vitest';
import { Progress } from './progress.ts';
import { recordingIo } from '../testing/world.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('progress writes over its own line, and over nothing that was printed since', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 });
  const io = recordingIo({}, true);
  const progress = new Progress(io, true);
  const later = () => vi.setSystemTime(Date.now() + 100);
  progress.update(0.5, 'one');
  // Too soon after the last: left out.
  progress.update(0.6, 'two');
  later();
  progress.update(1, 'three');
  later();
  progress.interrupted();
  progress.update(null, 'four');
  const again = '\u001b[1A\u001b[2K';
  expect(io.errLines.map((line) => line.startsWith(again))).toEqual([false, true, false]);
  expect(io.errLines.map((line) => stripVTControlCharacters(line))).toEqual([
    `${'█'.repeat(12)}${'·'.repeat(12)} 50%  one`,
    `${'█'.repeat(24)} 100%  three`,
    'four',
  ]);
});

test('progress shows on a terminal while the result goes into a file', () => {
  const io = recordingIo({}, false, true);
  new Progress(io, true).update(0.5, 'x');
  expect(io.errLines).toHaveLength(1);
  expect(io.errLines[0]).toContain('\u001b[');
});

test('progress is silent without a terminal', () => {
  const [piped, unwanted] = [recordingIo({}, true, false), recordingIo({}, true)];
  new Progress(piped, true).update(0.5, 'x');
  new Progress(unwanted, false).update(0.5, 'x');
  expect([...piped.errLines, ...unwanted.errLines]).toEqual([]);
});
