/** The short form of `npm run security`, and proof that the fuzzer finds planted faults. */
import { expect, test } from 'vitest';
import { asComplaint, asTable, foundIn, inputsOf, type Run } from './report.ts';
import { run } from './run.ts';
import { allowing, bytesOf, hold, type Surface, textOf } from './surface.ts';
import { allSurfaces } from './surfaces.ts';
import { Mutator } from './mutate.ts';

const seed = 1;
const noTally = () => ({
  addressesRefused: 0,
  forbiddenConnections: 0,
  strangersLetIn: 0,
  serverErrors: 0,
});

/** No proof of speed: machines that run tests are slow and busy. */
const timeout = 600_000;

test('no input crashes a member, gets a 5xx, gets a stranger in or a forbidden address called', {
  timeout,
}, async () => {
  const tally = noTally();
  const surfaces = await allSurfaces(seed, tally);
  const startMs = performance.now();
  const before = process.memoryUsage.rss();
  const results = await run(surfaces, { seed, inputs: 12_000, tally });
  const seconds = (performance.now() - startMs) / 1000;
  const rssBytes = { before, after: process.memoryUsage.rss() };
  const done: Run = { seed, seconds, rssBytes, tally, results };
  for (const surface of surfaces) await surface[Symbol.asyncDispose]?.();
  console.log(asTable(done));
  expect(foundIn(done).map(asComplaint)).toEqual([]);
  expect(tally).toMatchObject({ forbiddenConnections: 0, strangersLetIn: 0, serverErrors: 0 });
  expect(inputsOf(done)).toBeGreaterThanOrEqual(12_000);
  expect(tally.addressesRefused).toBeGreaterThan(1000);
  // A place that refuses everything, or takes everything, was not tried.
  for (const { name, taken, refused } of results) {
    expect(Math.min(taken, refused), name).toBeGreaterThan(0);
  }
});

const mutator = new Mutator({ corpus: [bytesOf('a right input')], words: ['!'] });

function planted(put: Surface['put']): Surface {
  return { name: 'planted', share: 1, make: (random) => mutator.make(random), put };
}

async function foundBy(put: Surface['put']): Promise<string | null> {
  const [result] = await run([planted(put)], { seed, inputs: 3000, tally: noTally() });
  return result?.found == null ? null : asComplaint(result.found);
}

test('an error that is not documented is found, with the smallest input that brings it', async () => {
  const found = await foundBy((input) =>
    allowing([RangeError], () => {
      if (textOf(input).includes('r!')) throw new TypeError('planted');
      throw new RangeError('documented');
    }),
  );
  expect(found).toContain('TypeError: planted');
  expect(found).toContain('input: "r!"');
  expect(found).toContain(`--surface planted --input ${Buffer.from('r!').toString('base64')}`);
});

test('a rule that does not hold is found, also when the answer comes later', async () => {
  const found = await foundBy(async (input) => {
    await Promise.resolve();
    return allowing([], () => hold(input.length < 30, 'It is long.'));
  });
  expect(found).toContain('It is long.');
});

test('memory that is kept is found', async () => {
  const kept: Uint8Array[] = [];
  const found = await foundBy(() => {
    kept.push(new Uint8Array(8192).fill(1));
    return 'taken';
  });
  expect(found).toMatch(/planted: \d+ bytes more are kept/);
});

test('an input that stops the event loop is found; one that did so only once, or only waited, is not', async () => {
  const wait = (ms: number): void =>
    void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
  const work = (ms: number): void => {
    const before = process.threadCpuUsage();
    for (let spentUs = 0; spentUs < ms * 1000; ) {
      const { user, system } = process.threadCpuUsage(before);
      spentUs = user + system;
    }
  };
  let first = true;
  const once = await foundBy(() => {
    if (first) work(100);
    first = false;
    return 'taken';
  });
  expect(once).toBeNull();
  let waits = 20;
  const waiting = await foundBy(() => {
    if (waits-- > 0) wait(50);
    return 'taken';
  });
  expect(waiting).toBeNull();
  const stopping = await foundBy((input) => {
    if (textOf(input).includes('!!')) work(60);
    return 'taken';
  });
  expect(stopping).toMatch(/It stops the event loop for \d+ ms/);
});

test('the same seed tries the same inputs, another one others', async () => {
  const tried = async (number: number): Promise<string> => {
    let all = '';
    let last = '';
    // An input that took longer than all before is tried again at once, which depends on the clock.
    const put: Surface['put'] = (input) => {
      const text = textOf(input);
      if (text !== last) all += text;
      last = text;
      return 'taken';
    };
    await run([planted(put)], { seed: number, inputs: 100, tally: noTally() });
    return all;
  };
  const first = await tried(1);
  expect(await tried(1)).toBe(first);
  expect(await tried(2)).not.toBe(first);
});
