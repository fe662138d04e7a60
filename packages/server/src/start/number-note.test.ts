import { OpenNumbering } from '@carillon/core';
import { MemoryDisk } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { numberingOf } from '../access/number-key.ts';
import { StartError } from '../access/start-rule.ts';
import { silentLog } from '../testing/one-member.ts';
import { noteNumbering, settleNumbering } from './number-note.ts';

const [keyed, other] = [numberingOf('ab'.repeat(32)), numberingOf('cd'.repeat(32))];

async function noteBy(numbering: typeof keyed): Promise<string[]> {
  const disk = new MemoryDisk();
  await noteNumbering(disk, numbering);
  return (await disk.list()).map(({ name }) => name);
}

test.each([
  ['with a key', keyed],
  ['without one', new OpenNumbering()],
])(
  'a folder takes the numbering of its first start %s, and the same one again',
  async (_, given) => {
    const without = settleNumbering(['journal-1'], given, silentLog);
    expect(without).toEqual({ numbering: given, noted: false });
    const names = ['journal-1', ...(await noteBy(given))];
    expect(settleNumbering(names, given, silentLog)).toEqual({ numbering: given, noted: true });
  },
);

test('a folder that was written with a key takes neither another nor none, and the refusal says the ways out', async () => {
  const names = await noteBy(keyed);
  expect(names).toEqual([expect.stringMatching(/^numbers-[0-9a-f]{8}$/)]);
  const start = (given: typeof keyed) => () => settleNumbering(names, given, silentLog);
  expect(start(other)).toThrow(StartError);
  expect(start(other)).toThrow(/has another "number-key": .* Bring back the tokens file/);
  expect(start(other)).toThrow(`remove the file ${names[0]}`);
  expect(start(new OpenNumbering())).toThrow(/has no "number-key": /);
});

test('a folder that was written without a key goes on without one, with a warning', async () => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
  const settled = settleNumbering(await noteBy(new OpenNumbering()), keyed, log);
  expect(settled).toEqual({ numbering: new OpenNumbering(), noted: true });
  expect(warnings).toEqual([expect.stringMatching(/is not used.*docs\/security\.md/)]);
});
