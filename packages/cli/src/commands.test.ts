import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commands } from './commands.ts';
import { command as serve } from './commands/operate/serve.ts';

test('the table of the README has every command, and none that there is not', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const rows = readme.split('\n').filter((line) => line.startsWith('| `carillon '));
  const named = new Set<string>();
  for (const row of rows) {
    const [cell = ''] = row.slice(2).split(' | ');
    const [first = '', ...more] = cell.split(', ').map((call) => call.replaceAll('`', ''));
    const [, command = '', action] = first.split(' ');
    named.add(command);
    // Behind a command with an action come other actions of it; behind one without, other commands.
    const isAction = action !== undefined && /^[a-z]/.test(action);
    if (!isAction) for (const name of more) named.add(name);
  }
  expect([...named].toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
});

test('the help of serve and the page on operating say the same of SIGHUP', () => {
  const page = readFileSync(new URL('../../../docs/operating.md', import.meta.url), 'utf8');
  const told = page.split('\n').find((line) => line.startsWith('| SIGHUP |')) ?? '';
  const help = serve.usage.replaceAll('\n', ' ');
  const read =
    'the members file, tokens, the secret between members, certificates, and the quotas of namespaces in the configuration file';
  expect(told.toLowerCase()).toContain(read);
  expect(help).toContain(`SIGHUP reads again: ${read}.`);
});
