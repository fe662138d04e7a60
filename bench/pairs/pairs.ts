/**
 * `npm run bench:pairs`: CPU per operation of two builds of a member that take turns on the same machine
 * (`measure-pair.ts`). A busy machine slows both alike, and CPU time leaves waiting out, so the ratio holds where rates
 * do not.
 *
 *   W1 set   15.20 µs  15.02 µs  1.012 (0.99–1.03)   over 10 pairs
 *
 * reads: the median set costs A 15.20 µs and B 15.02 µs; the median of all turns has the ratio 1.012, half of the pairs
 * lie in the brackets.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Build, measurePair, type PairSizes } from './measure-pair.ts';
import { type Costs, type Pair, ratioOf } from './ratio.ts';
import { type PairFigures, withPairs } from './write-pairs.ts';

const help = `npm run bench:pairs -- (--against FOLDER [--a-args=ARGS] | --without-invariants | --a-args=ARGS | --b-args=ARGS) [--of FOLDER] [--rounds N] [--json] [--write]

  --against FOLDER      B is the clone in this folder, with its packages installed
  --without-invariants  B is this clone, its invariants left out
  --a-args=ARGS         A is served with these further arguments, and B is this clone without them. The word COLLECTOR stands
                        for the URL of a collector that takes spans: --a-args="--telemetry-endpoint COLLECTOR".
                        With --against, A alone has them: a clone from before an option does not know it
  --b-args=ARGS         B is this clone, served with these further arguments: --b-args="--history-bytes-max 0".
                        Nothing behind the sign: two equal members, which differ by chance alone
  --of FOLDER           A is the clone in this folder, with its packages installed (this clone)
  --rounds N            how many pairs (10)
  --json                the figures for programs
  --write               but with --against: a row of docs/cost.md, in place of the one with the same arguments

Prints the CPU of the member for a set (W1, 64 in flight, synced to disk) and for a pop (W3) of A and of B. The two of a
pair take turns of 2,500 sets that are due at one instant, and their pops. Turns beside each other are compared, after
60,000 other sets and 4 turns: a member that has just started spends its time on making its code fast, which is no cost
of an option. Threads that compile or collect garbage beside the code are left out.
`;

const here = join(import.meta.dirname, '../..');
/**
 * At one trace in a hundred the first 512 spans have come after 51,200 sets: the first request to a collector, by code
 * that never ran before, is not counted. A turn is longer than the search indexes put changes off (1024 records), so
 * that they have their work with each timer.
 */
const sizes: PairSizes = {
  pendingCount: 60_000,
  warmTurnCount: 4,
  turnCount: 14,
  turnLength: 2500,
};

await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      against: { type: 'string' },
      'without-invariants': { type: 'boolean', default: false },
      'a-args': { type: 'string' },
      'b-args': { type: 'string' },
      of: { type: 'string', default: here },
      rounds: { type: 'string', default: '10' },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const ownArgs = values['a-args'];
  const isAlone = ownArgs !== undefined && values.against === undefined;
  const other = otherBuild(
    values.against,
    values['without-invariants'],
    values['b-args'] ?? (isAlone ? '' : undefined),
  );
  const rounds = Number(values.rounds);
  if (values.help || other === null || !(Number.isInteger(rounds) && rounds > 0)) {
    console.log(help);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  await using collector = await startCollector();
  const args = argsOf(ownArgs ?? '').map((arg) => (arg === 'COLLECTOR' ? collector.url : arg));
  const own = { folder: resolve(values.of), nodeFlags: [], args };
  const pairs = await measurePairs(own, other, rounds);
  if (values.json) console.log(JSON.stringify(pairs));
  else {
    for (const [label, key] of [
      ['W1 set', 'set'],
      ['W3 pop', 'pop'],
    ] as const) {
      console.log(line(label, pairs, key));
    }
  }
  const bare = values['without-invariants'] ? '--without-invariants' : undefined;
  const name = ownArgs ?? values['b-args'] ?? bare;
  if (!values.write || name === undefined) return;
  const page = join(here, 'docs/cost.md');
  await writeFile(page, withPairs(await readFile(page, 'utf8'), name, figuresOf(pairs)));
}

function figuresOf(pairs: readonly Pair[]): PairFigures {
  return {
    count: pairs.length,
    set: ratioOf(pairs, 'set'),
    pop: ratioOf(pairs, 'pop'),
  };
}

/** null: not exactly one of the three is given. */
function otherBuild(
  against: string | undefined,
  isBare: boolean,
  args: string | undefined,
): Build | null {
  const given = [against !== undefined, isBare, args !== undefined].filter(Boolean).length;
  if (given !== 1) return null;
  if (against !== undefined) return { folder: resolve(against), nodeFlags: [], args: [] };
  if (args !== undefined) return { folder: here, nodeFlags: [], args: argsOf(args) };
  const hook = join(import.meta.dirname, 'without-invariants.ts');
  return { folder: here, nodeFlags: ['--import', hook], args: [] };
}

function argsOf(text: string): string[] {
  return text.split(' ').filter(Boolean);
}

/** A collector that takes all spans and keeps none. Its CPU time is not counted as the member's. */
async function startCollector(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function measurePairs(a: Build, b: Build, rounds: number): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (let round = 0; round < rounds; round++) {
    console.error(`pair ${round + 1} of ${rounds} …`);
    const pair = await measurePair([a, b], round % 2 === 1, sizes);
    const [set, pop] = [ratioOf([pair], 'set').middle, ratioOf([pair], 'pop').middle];
    console.error(`A ÷ B: set ${set.toFixed(3)}, pop ${pop.toFixed(3)}`);
    pairs.push(pair);
  }
  return pairs;
}

function line(label: string, pairs: readonly Pair[], key: keyof Costs): string {
  const { a, b, low, middle, high } = ratioOf(pairs, key);
  const range = `${low.toFixed(2)}–${high.toFixed(2)}`;
  return `${label}   ${a.toFixed(2)} µs   ${b.toFixed(2)} µs   ${middle.toFixed(3)} (${range})   over ${pairs.length} pairs`;
}
