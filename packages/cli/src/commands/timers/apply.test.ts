/** `apply`: the plan names every change, each is made, and nothing else is touched. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carillon, type Timer } from '@carillon/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readDeclared } from '../../timers/declared.ts';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import { realMember } from '../../testing/real-member.ts';
import { type Answer, type Asked, fakeMember, recordingIo } from '../../testing/world.ts';

const closing: (() => unknown)[] = [];
let path = '';

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-cli-'));
  path = join(folder, 'timers.yaml');
  closing.push(() => rmSync(folder, { recursive: true }));
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function apply(url: string, text: string, ...args: string[]) {
  writeFileSync(path, text);
  const io = recordingIo({ CARILLON_SERVER: url });
  const code = await run(['apply', '-f', path, ...args], io, release);
  return { code, out: io.outLines, err: io.errLines };
}

async function member(script: (asked: Asked) => Answer) {
  const made = await fakeMember(script);
  closing.push(() => made.close());
  return made;
}

async function all(timers: AsyncIterable<Timer>): Promise<Timer[]> {
  const found: Timer[] = [];
  for await (const timer of timers) found.push(timer);
  return found;
}

const tick = '{ name: tick, every: 10s, forever: true, uri: "http://r/tick" }';
const notFound: Answer = { status: 404, body: {} };

describe('a real member', () => {
  test('create, leave alone, replace, prune: each plan comes true', async () => {
    const real = await realMember();
    closing.push(() => real.stop());
    const url = `http://${real.address}`;
    const client = new Carillon({ members: [url], refresh: null });
    await client.set({ in: '1h', uri: 'http://r/other', tags: ['mine'] });
    const names = async () => (await all(client.list())).map(({ uri }) => uri).toSorted();
    const rich = `
set: billing
timers:
  - ${tick}
  - name: nightly
    cron: "0 3 * * *"
    timezone: Europe/Berlin
    forever: true
    uri: http://r/nightly
    headers: { X-Kind: night }
    timeout: 2s
    retry: { maxAttempts: 4, limit: 1h }
    tags: [reports]
    factor: 3
  - { name: party, at: "2099-12-31T23:00:00+01:00", uri: "http://r/party", opaque: hello }
`;
    const dry = await apply(url, rich, '--dry-run', '--prune');
    expect(dry.code).toBe(0);
    expect(dry.out[0]).toMatch(/^ACTION +NAME +ID +CALLS$/);
    expect(dry.out.at(-1)).toBe(
      '3 would be created, 0 would be replaced, 0 would be deleted, 0 unchanged.',
    );
    expect(await names()).toEqual(['http://r/other']);

    expect((await apply(url, rich, '--prune')).out.at(-1)).toBe(
      '3 created, 0 replaced, 0 deleted, 0 unchanged.',
    );
    const versions = (await all(client.list())).map(({ version }) => version);
    const second = await apply(url, rich, '--prune');
    expect(second.out.at(-1)).toBe('0 created, 0 replaced, 0 deleted, 3 unchanged.');
    expect((await all(client.list())).map(({ version }) => version)).toEqual(versions);

    const less = `set: billing\ntimers:\n  - ${tick.replace('10s', '20s')}`;
    const kept = await apply(url, less);
    expect(kept.out.at(-1)).toBe('0 created, 1 replaced, 0 deleted, 0 unchanged.');
    const pruned = await apply(url, less, '--prune');
    expect(
      pruned.out
        .filter((row) => row.startsWith('delete'))
        .map((row) => row.split(/ +/)[1] ?? '')
        .toSorted(),
    ).toEqual(['nightly', 'party']);
    expect(pruned.out.at(-1)).toBe('0 created, 0 replaced, 2 deleted, 1 unchanged.');
    expect(await names()).toEqual(['http://r/other', 'http://r/tick']);
    const [left] = await all(client.list({ tag: 'applied:billing' }));
    expect(left).toMatchObject({
      timing: { interval: 20 },
      tags: ['applied:billing', 'name:tick'],
    });
  });
});

describe('carillon apply', () => {
  test('numbers follow from set and name, and from nothing else', () => {
    const id = (text: string, set?: string) => readDeclared(text, set).timers[0]?.id;
    const base = id(`[${tick}]`);
    expect(base).toMatch(/^[0-9a-f]{16}-2$/);
    expect(id(`[${tick.replace('10s', '1h')}]`)).toBe(base);
    expect(
      id(JSON.stringify({ timers: [{ name: 'tick', every: '1s', count: 2, uri: 'http://x/' }] })),
    ).toBe(base);
    expect(id(`[${tick}]`, 'other')).not.toBe(base);
    expect(id(`[${tick.replace('name: tick', 'name: tock')}]`)).not.toBe(base);
  });

  test('a timer that the cluster refuses is told by name, exits 1, and keeps anything from being deleted', async () => {
    const old = { id: '00000000000000010000204080102040-2', tags: ['applied:s', 'name:old'] };
    const { url, asked } = await member(({ method, path: at }) => {
      if (at.startsWith('/timers?')) return { body: { timers: [old], cursor: null, missing: [] } };
      return method === 'PUT' ? { status: 400, body: { detail: 'The uri is bad.' } } : notFound;
    });
    const { code, err } = await apply(url, `[${tick}]`, '--set', 's', '--prune');
    expect(code).toBe(1);
    expect(err).toEqual([
      'tick: The uri is bad.',
      'Nothing was deleted, because not everything could be set.',
    ]);
    expect(asked.some(({ method }) => method === 'DELETE')).toBe(false);
  });

  test('--json is a line for each timer', async () => {
    const { url } = await member(({ method }) => (method === 'GET' ? notFound : {}));
    const { out } = await apply(url, `[${tick}]`, '--json');
    expect(out.map((text) => JSON.parse(text) as object)).toMatchObject([
      { action: 'create', name: 'tick', done: true },
    ]);
  });

  test('a single pop whose instant has passed is not set again', async () => {
    const { url, asked } = await member(() => notFound);
    const { code, out } = await apply(
      url,
      '[{ name: a, at: "2020-01-01T00:00:00Z", uri: "http://r/" }]',
    );
    expect([code, out.at(-1)]).toEqual([
      0,
      '0 created, 0 replaced, 0 deleted, 0 unchanged, 1 over.',
    ]);
    expect(asked.some(({ method }) => method === 'PUT')).toBe(false);
  });

  test.each<[string, string]>([
    ['timers', 'There must be a list of timers'],
    ['[ {', 'timers.yaml: '],
    ['[{ uri: "http://r/" }]', 'Timer 1 needs a "name"'],
    [`[${tick}, ${tick}]`, 'Two timers have the name "tick"'],
    ['[{ name: a, every: 10s, forever: true }]', 'The timer "a" needs a "uri"'],
    ['[{ name: a, every: 10, forever: true, uri: x }]', 'needs a duration such as 10s as "every"'],
    ['[{ name: a, every: 10s, uri: x }]', 'recurs and needs one of for, until, count, forever'],
    [
      '[{ name: a, every: 10s, forever: true, count: 3, uri: x }]',
      'has count and forever; it may have one of for, until, count and forever',
    ],
    ['[{ name: a, uri: x }]', 'needs one of every, at and cron'],
    [
      '[{ name: a, every: 10s, cron: x, uri: x }]',
      'has every and cron; it may have one of every, at and cron',
    ],
    ['[{ name: a, at: "2099-01-01T00:00:00Z", count: 2, uri: x }]', 'pops once'],
    ['[{ name: a, evry: 10s, uri: x }]', 'has "evry", which is none of'],
    ['[{ name: a, every: 10s, forever: true, uri: x, factor: 17 }]', 'from 1 to 16 as "factor"'],
    ['[{ name: a, every: 10s, forever: true, uri: x, retry: { tries: 3 } }]', 'as "retry"'],
  ])('the file %s is refused: %s', async (text, sentence) => {
    const { url, asked } = await member(() => notFound);
    const { code, err } = await apply(url, text);
    expect([code, err.length]).toEqual([2, 1]);
    expect(err[0]).toContain(sentence);
    expect(asked).toEqual([]);
  });

  test.each<[string[], string]>([
    [['--prune'], '--prune needs to know the set'],
    [['more'], 'Name the file of declared timers once'],
    [['-f', '/nowhere/x.yaml'], 'cannot be read: there is no file or folder /nowhere/x.yaml'],
  ])('%j is wrong usage: %s', async (args, sentence) => {
    const { url, asked } = await member(() => notFound);
    const { code, err } = await apply(url, `[${tick}]`, ...args);
    expect([code, err.length]).toEqual([2, 1]);
    expect(err[0]).toContain(sentence);
    expect(asked).toEqual([]);
  });
});
