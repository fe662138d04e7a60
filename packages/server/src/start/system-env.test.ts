/** The log as it is written. */
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('an error in a field is written as its sentence, not as an empty object', () => {
  const script = `
    import { createLog } from ${JSON.stringify(new URL('./system-env.ts', import.meta.url).href)};
    createLog('info', 'a').error('It failed.', { error: new TypeError('no room'), bytes: 3 });`;
  const given = ['--conditions=source', '--no-warnings', '--input-type=module', '--eval', script];
  const line: unknown = JSON.parse(execFileSync(process.execPath, given, { encoding: 'utf8' }));
  expect(line).toMatchObject({ msg: 'It failed.', error: 'no room', bytes: 3, member: 'a' });
});
