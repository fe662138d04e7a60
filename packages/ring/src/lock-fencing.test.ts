import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const example = join(import.meta.dirname, '../../../examples/lock-fencing.ts');

test('the example of docs/lock-ring.md: a stale writer is refused by a store that compares tokens', () => {
  const out = execFileSync(process.execPath, ['--conditions=source', '--no-warnings', example], {
    encoding: 'utf8',
  });
  expect(out.trim().split('\n')).toEqual([
    'written: from A',
    'A knows: the lock is lost',
    'written: from B',
    'refused: from A, late (a newer holder has written)',
    'the store holds "from B"',
  ]);
});
