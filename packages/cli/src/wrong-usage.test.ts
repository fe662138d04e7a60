/** Operands and values that do not fit: each is told in one sentence, with exit code 2, and no member is asked. */
import { expect, test } from 'vitest';
import { runCommand as cli } from './testing/command-line.ts';

const id = '0d1e1d1ab81140010000204080102040-2';

test.each<[string[], string]>([
  [['list', 'x'], 'carillon get shows one'],
  [['list', '--state', 'asleep'], '--state must be one of'],
  [['list', '--limit', '0'], '--limit must be'],
  [['list', '--limit', '3', '--all'], 'not both'],
  [['get'], 'Name one timer'],
  [['cancel'], 'Name timers by id'],
  [['cancel', id, '--tag', 'x'], 'not both'],
  [['dead-letters'], 'list, summary, redeliver or discard'],
  [['dead-letters', 'discard'], 'by id, or all of them'],
  [['cluster', 'stauts'], 'Did you mean "status"?'],
  [['cluster', 'drain'], 'The name of the member is missing, as in npx carillon cluster drain n2.'],
  [['cluster', 'drain', 'n0', 'n1'], '"n1" is too much here.'],
  [['cluster', 'status', 'n0'], '"n0" is too much here.'],
  [['dead-letters', 'list', id], `"${id}" is too much here.`],
  [['config'], 'print or check'],
  [['config', 'print', 'data'], '"data" is too much here.'],
  [
    ['set', 'http://127.0.0.1:9/', '1m'],
    'The duration comes first, as in npx carillon set 1m http://127.0.0.1:9/',
  ],
  [['set', 'http://r/', '10'], 'The duration comes first, as in npx carillon set 10s http://r/'],
  [['set', '10s', 'r'], '"r" is not an http or https URL to call back.'],
  [['completion', 'tcsh'], 'bash, zsh or fish'],
  [['listen', '--port', 'x'], '--port must be a whole number'],
  [['listen', '--delay', '2'], '--delay must be a duration'],
  [['dev', '--members', '0'], '--members must be'],
])('%j is refused: %s', async (args, sentence) => {
  const { code, err, asked } = await cli(args);
  expect(code).toBe(2);
  expect(err).toHaveLength(1);
  expect(err[0]).toContain(sentence);
  expect(asked).toEqual([]);
});
