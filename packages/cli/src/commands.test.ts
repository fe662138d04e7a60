import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commands } from './commands.ts';

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
