/**
 * `npm run security`: a million hostile inputs, into every place that takes input from outside, and a table of the
 * results. Ends with 1 when one of them shows a fault, and says how to see it again.
 */
import { parseArgs } from 'node:util';
import { asComplaint, asJson, asTable, foundIn, type Run } from './fuzz/report.ts';
import { complaint, run } from './fuzz/run.ts';
import type { Surface, Tally } from './fuzz/surface.ts';
import { allSurfaces } from './fuzz/surfaces.ts';

const help = `npm run security -- [options]

  --inputs N       how many, all surfaces together (1000000)
  --seed N|any     which ones (1); any: others each time
  --surface NAME   only this one
  --input BASE64   this input of --surface, and no other
  --json           for programs
`;

/** Far above the memory of the corpora and the compiled code. */
const rssBytesMax = 1024 * 1024 * 1024;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      inputs: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: '1' },
      surface: { type: 'string' },
      input: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(help);
    return;
  }
  const seed = values.seed === 'any' ? Date.now() >>> 0 : wholeNumber(values.seed, '--seed');
  const inputs = wholeNumber(values.inputs, '--inputs');
  const tally = {
    addressesRefused: 0,
    forbiddenConnections: 0,
    strangersLetIn: 0,
    serverErrors: 0,
  };
  const all = await allSurfaces(seed, tally);
  const surfaces = all.filter(
    ({ name }) => values.surface === undefined || name === values.surface,
  );
  if (surfaces.length === 0) {
    fail(
      `There is no surface ${values.surface}; there are ${all.map(({ name }) => name).join(', ')}.`,
    );
  }
  const [first] = surfaces;
  if (values.input === undefined)
    await tryAll(surfaces, { seed, inputs, tally, json: values.json });
  else if (first !== undefined) await tryAgain(first, Buffer.from(values.input, 'base64'));
  for (const surface of all) await surface[Symbol.asyncDispose]?.();
}

interface Given {
  readonly seed: number;
  readonly inputs: number;
  readonly tally: Tally;
  readonly json: boolean;
}

async function tryAll(
  surfaces: readonly Surface[],
  { seed, inputs, tally, json }: Given,
): Promise<void> {
  const startMs = performance.now();
  const before = process.memoryUsage.rss();
  const results = await run(surfaces, { seed, inputs, tally });
  const after = process.memoryUsage.rss();
  const seconds = (performance.now() - startMs) / 1000;
  const done: Run = { seed, seconds, rssBytes: { before, after }, tally, results };
  console.log(json ? asJson(done) : asTable(done));
  for (const found of foundIn(done)) console.error(`\n${asComplaint(found)}`);
  if (after - before > rssBytesMax) console.error(`Memory grew by ${after - before} bytes.`);
  if (foundIn(done).length > 0 || after - before > rssBytesMax) process.exitCode = 1;
}

async function tryAgain(surface: Surface, input: Uint8Array): Promise<void> {
  const what = await complaint(surface, input);
  console.log(what ?? 'Nothing is wrong with this input.');
  if (what !== null) process.exitCode = 1;
}

function wholeNumber(text: string, flag: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) fail(`${flag} must be a whole number, not ${text}.`);
  return Number(text);
}

function fail(message: string): never {
  console.error(`security: ${message}`);
  process.exit(2);
}

await main();
