/** The command line of `npm run pack`; `published.test.ts` looks at the archives. */
import { expect, test } from 'vitest';
import { packArguments } from './pack.ts';

test.each([[['archives']], [['./-odd']], [['/tmp/a b']]])('%j names a folder', (args) => {
  expect(packArguments(args)).toEqual({ folder: args[0] });
});

test.each([[['--help']], [['-h']], [['archives', '--help']]])('%j asks for the usage', (args) => {
  expect(packArguments(args)).toMatchObject({
    exitCode: 0,
    text: expect.stringContaining('npm run pack -- FOLDER'),
  });
});

test.each<[string[], string]>([
  [[], 'Name the folder to write to'],
  [[''], 'Name the folder to write to'],
  [['--out'], 'There is no flag --out here; a folder of this name is ./--out.'],
  [['a', 'b'], '"b" is too much here'],
])('%j is refused: %s', (args, sentence) => {
  expect(packArguments(args)).toMatchObject({
    exitCode: 2,
    text: expect.stringContaining(sentence),
  });
});
