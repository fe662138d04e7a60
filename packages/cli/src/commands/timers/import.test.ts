/** `export` and `import`: exported timers come back as they were, once, and a timer that cannot is told by its line. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Carillon } from '@carillon/client';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import { readImportLine } from '../../timers/import-line.ts';
import { linesOf } from '../../timers/lines.ts';
import { realMember } from '../../testing/real-member.ts';
import {
  type Answer,
  type Asked,
  type FakeMember,
  fakeMember,
  recordingIo,
} from '../../testing/world.ts';

const id = '0d1e1d1ab81140010000204080102040-2';
const number = '0d1e1d1ab8114001-2';
const closing: (() => unknown)[] = [];
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-cli-'));
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  rmSync(folder, { recursive: true });
});

async function member(script: (asked: Asked) => Answer): Promise<FakeMember> {
  const made = await fakeMember(script);
  closing.push(() => made.close());
  return made;
}

async function real(): Promise<string> {
  const made = await realMember();
  closing.push(() => made.stop());
  return `http://${made.address}`;
}

async function cli(url: string, ...args: string[]) {
  const io = recordingIo({ CARILLON_SERVER: url });
  const code = await run(args, io, release);
  return { code, out: io.outLines, err: io.errLines };
}

function file(...lines: string[]): string {
  const path = join(folder, 'timers.ndjson');
  writeFileSync(path, lines.map((text) => `${text}\n`).join(''));
  return path;
}

function line(timing: object, more: object = {}): string {
  const definition = {
    timing,
    callback: { http: { uri: 'http://r/', opaque: 'o', method: 'POST' } },
  };
  return JSON.stringify({ id, namespace: 'default', definition, sequence: 0, ...more });
}

describe('a line with a member that no timer has', () => {
  const retried = { timing: { interval: 5 }, callback: { http: { uri: 'http://r/', retry: {} } } };

  test.each([
    [
      line({ interval: 5, repeat_for: 60 }),
      'A timer has no member /definition/timing/repeat_for. Did you mean /definition/timing/repeat-for?',
    ],
    [
      line({ interval: 5 }, { definition: retried }),
      'A timer has no member /definition/callback/http/retry. Did you mean /definition/callback/retry?',
    ],
    [
      line({ interval: 5 }, { next_due: '2030-01-31T09:00:00Z' }),
      'A line has no member /next_due. Did you mean /next-due?',
    ],
    [
      line({ interval: 5 }, { priority: 7 }),
      'A line has no member /priority. It has id, namespace, definition, set, sequence, next-due.',
    ],
  ])('%s is told with its pointer and the nearest name', async (text, sentence) => {
    expect(readImportLine(text)).toEqual({ kind: 'bad', why: sentence });
    const { code, out, err } = await cli(await real(), 'import', file(text));
    expect([code, out, err]).toEqual([
      1,
      ['0 set, 0 unchanged, 0 left out, 1 failed.'],
      [`Line 1: ${sentence}`],
    ]);
  });
});

describe('carillon export', () => {
  const timer = {
    id,
    timing: { interval: 5 },
    callback: {},
    reliability: {},
    tags: ['x'],
    sequence: 2,
  };
  const pages = ({ path }: Asked): Answer => {
    if (path.startsWith('/dead-letters')) {
      return { body: { 'dead-letters': [{ id, reason: 'refused' }], cursor: null, missing: [] } };
    }
    const more = path.includes('cursor=');
    return { body: { timers: [timer], cursor: more ? null : 'next', missing: [] } };
  };

  test('writes all pages, and dead letters only when asked', async () => {
    const { url, asked } = await member(pages);
    const plain = await cli(url, 'export');
    expect(plain.code).toBe(0);
    expect(plain.out.map((text) => (JSON.parse(text) as { id: string }).id)).toEqual([id, id]);
    expect(asked.map(({ path }) => path)).toEqual([
      '/whoami',
      '/timers?limit=1000',
      '/timers?limit=1000&cursor=next',
    ]);
    const both = await cli(url, 'export', '--dead-letters');
    expect(JSON.parse(both.out[2] ?? '')).toEqual({ 'dead-letter': { id, reason: 'refused' } });
    const counted = await cli(url, 'export', file(''), '--dead-letters', '--json');
    expect(counted.out.map((text) => JSON.parse(text) as unknown)).toEqual([
      { timers: 2, 'dead-letters': 1, missing: [] },
    ]);
  });

  test('names the members that did not answer and exits 1', async () => {
    const { url } = await member(() => ({ body: { timers: [], cursor: null, missing: ['n2'] } }));
    const { code, err } = await cli(url, 'export');
    expect([code, err]).toEqual([1, ['No answer from n2: timers may be missing.']]);
  });

  test('an export that members did not answer leaves the file as it was, and nothing beside it', async () => {
    const path = file('before');
    const { url } = await member((asked) => {
      const page = pages(asked);
      return { body: { ...(page.body as object), missing: ['n2'] } };
    });
    const { code, out, err } = await cli(url, 'export', path);
    expect([code, out, err]).toEqual([1, [], [`No answer from n2: ${path} is left as it was.`]]);
    expect(readFileSync(path, 'utf8')).toBe('before\n');
    expect(existsSync(`${path}.part`)).toBe(false);
  });

  test('an export that fails half-way leaves the file as it was, and nothing beside it', async () => {
    const path = file('before');
    const { url } = await member(({ path: asked }) =>
      asked.includes('cursor=') ? { status: 400, body: {} } : pages({ path: asked } as Asked),
    );
    expect((await cli(url, 'export', path)).code).toBe(1);
    expect(readFileSync(path, 'utf8')).toBe('before\n');
    expect(existsSync(`${path}.part`)).toBe(false);
  });
});

describe('carillon import', () => {
  test('sets each timer under its number, and tells failures by line', async () => {
    const { url, asked } = await member(({ method, body }) => {
      if (method === 'GET') return { status: 404, body: {} };
      const refused = JSON.stringify(body).includes('"bad"');
      return refused ? { status: 400, body: { detail: 'No.', pointer: '/tags' } } : {};
    });
    const path = file(
      line({ interval: 5, forever: true }),
      '{"id": 1}',
      '',
      'nonsense',
      line({ interval: 5, forever: true }, { definition: { timing: { cron: 'bad' } } }),
      '{"dead-letter":{}}',
    );
    const { code, out, err } = await cli(url, 'import', path);
    expect(code).toBe(1);
    expect(out).toEqual(['1 set, 0 unchanged, 1 left out, 3 failed.']);
    expect(err.toSorted()).toEqual([
      'Line 2: The member "id" must be the id of a timer.',
      'Line 4: This is not JSON.',
      'Line 5: The cluster refused (400): No. (at /tags)',
    ]);
    const put = asked.find(
      ({ method, body }) => method === 'PUT' && JSON.stringify(body).includes('forever'),
    );
    expect(put?.path).toBe(`/timers/${number}`);
    expect(put?.body).toMatchObject({
      timing: { interval: 5, forever: true },
      reliability: { 'replication-factor': 2 },
    });
  });

  describe('of many timers', () => {
    const numbered = (i: number): string =>
      line({ interval: 5, forever: true }, { id: `${i.toString(16).padStart(16, '0')}-2` });
    const lines = (count: number): string[] =>
      Array.from({ length: count }, (_, i) => numbered(i + 1));
    const outcomes = (body: unknown): object[] => (body as object[]).map(() => ({ status: 200 }));

    test('lists the timers that are there once, and sets the rest 500 at a time', async () => {
      const { url, asked } = await member(({ method, body }) =>
        method === 'GET'
          ? { body: { timers: [], cursor: null, missing: [] } }
          : { body: outcomes(body) },
      );
      const { code, out } = await cli(url, 'import', file(...lines(1200)));
      expect([code, out]).toEqual([0, ['1200 set, 0 unchanged, 0 left out, 0 failed.']]);
      const requests = asked.map(({ method, path }) => `${method} ${path.split('?')[0]}`);
      expect(requests.toSorted()).toEqual([
        'GET /timers',
        ...Array<string>(3).fill('POST /timers/batch'),
      ]);
      expect(asked.find(({ method }) => method === 'POST')?.body).toContainEqual(
        expect.objectContaining({ change: 'replace', id: '0000000000000001-2' }),
      );
    });

    test('tries an item that a batch did not set alone, and tells the answer to that', async () => {
      const { url } = await member(({ method, path, body }) => {
        if (path.startsWith('/timers?')) return { body: { timers: [], cursor: null, missing: [] } };
        if (method === 'GET') return { status: 404, body: {} };
        if (method === 'POST')
          return {
            body: [{ status: 200 }, { status: 429 }, { status: 503 }, ...outcomes(body).slice(3)],
          };
        return path.includes('0000000000000002') ? { status: 400, body: { detail: 'No.' } } : {};
      });
      const { code, out, err } = await cli(url, 'import', file(...lines(5)));
      expect([code, out]).toEqual([1, ['4 set, 0 unchanged, 0 left out, 1 failed.']]);
      expect(err).toEqual(['Line 2: The cluster refused (400): No.']);
    });

    test('asks for each timer where members did not answer: the list may not have it', async () => {
      const { url, asked } = await member(({ method, path }) => {
        if (path.startsWith('/timers?'))
          return { body: { timers: [], cursor: null, missing: ['n1'] } };
        return method === 'GET' ? { status: 404, body: {} } : {};
      });
      const { out } = await cli(url, 'import', file(...lines(3)));
      expect(out).toEqual(['3 set, 0 unchanged, 0 left out, 0 failed.']);
      expect(asked.filter(({ method }) => method === 'POST')).toEqual([]);
      expect(asked.filter(({ method }) => method === 'PUT')).toHaveLength(3);
    });
  });

  test('--dry-run sets nothing; --json counts', async () => {
    const { url, asked } = await member(() => ({ status: 404, body: {} }));
    const path = file(line({ interval: 5, forever: true }), 'x');
    const { code, out } = await cli(url, 'import', path, '--dry-run', '--json');
    expect(code).toBe(1);
    expect(out.map((text) => JSON.parse(text) as object)).toEqual(
      expect.arrayContaining([
        { line: 2, error: 'This is not JSON.' },
        { set: 1, unchanged: 0, skipped: 0, failed: 1, 'dry-run': true },
      ]),
    );
    expect(asked.every(({ method }) => method === 'GET')).toBe(true);
  });

  test('--skip-overdue leaves out a single pop whose instant has passed', async () => {
    const { url, asked } = await member(({ method }) =>
      method === 'GET' ? { status: 404, body: {} } : {},
    );
    const path = file(line({ interval: 5 }, { 'next-due': '2020-01-01T00:00:00.000Z' }));
    const { code, out } = await cli(url, 'import', path, '--skip-overdue');
    expect([code, out]).toEqual([0, ['0 set, 0 unchanged, 1 left out, 0 failed.']]);
    expect(asked.filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  test.each<[string[], string]>([
    [['import', 'a', 'b'], 'is too much here'],
    [['export', 'a', 'b'], 'is too much here'],
    [['import', '/nowhere/at-all.ndjson'], 'There is no file'],
  ])('%j is refused: %s', async (args, sentence) => {
    const { code, err } = await cli('http://127.0.0.1:1', ...args);
    expect([code, err.length]).toEqual([2, 1]);
    expect(err[0]).toContain(sentence);
  });

  test('no member there is one failure, not one a line', async () => {
    const path = file(line({ interval: 5, count: 9 }), line({ interval: 5, count: 9 }));
    const { code, err } = await cli('http://127.0.0.1:1', 'import', path);
    expect([code, err.length]).toEqual([1, 1]);
  });
});

describe('the rest of a timing', () => {
  const due = '2030-01-01T00:00:00.000Z';
  test.each<[string, object, number, object]>([
    ['a single pop keeps its instant', { interval: 30 }, 0, { at: due }],
    ['a last pop too', { interval: 30, 'repeat-for': 90 }, 2, { at: due }],
    ['repeat-for', { interval: 30, 'repeat-for': 300 }, 3, { interval: 30, count: 7 }],
    ['fractions', { interval: 0.1, 'repeat-for': 0.3 }, 1, { interval: 0.1, count: 2 }],
    ['count', { interval: 30, count: 5 }, 1, { interval: 30, count: 4 }],
    ['for ever', { interval: 30, forever: true }, 99, { interval: 30, forever: true }],
    ['an instant', { at: due }, 0, { at: due }],
    [
      'until',
      { interval: 30, until: '2031-01-01T00:00:00.000Z' },
      4,
      { interval: 30, until: '2031-01-01T00:00:00.000Z' },
    ],
    ['until, last pop', { interval: 30, until: '2030-01-01T00:00:10.000Z' }, 4, { at: due }],
    ['cron with a count', { cron: '0 9 * * *', count: 5 }, 2, { cron: '0 9 * * *', count: 3 }],
    [
      'cron for a while',
      { cron: '0 9 * * *', 'repeat-for': 60 },
      2,
      { cron: '0 9 * * *', until: '2029-01-01T00:01:00.000Z' },
    ],
  ])('%s: %j after %i pops is %j', (_, timing, sequence, expected) => {
    const text = line(timing, { sequence, 'next-due': due, set: '2029-01-01T00:00:00.000Z' });
    const read = readImportLine(text);
    expect(read.kind === 'timer' && read.timer.body['timing']).toEqual(expected);
  });
});

test('lines are numbered, however the bytes are cut, and a long one costs only itself', async () => {
  const bytes = new TextEncoder().encode(`ä\n\n${'x'.repeat(20)}\nlast`);
  for (let cut = 1; cut < bytes.length; cut++) {
    const chunks = async function* () {
      yield bytes.subarray(0, cut);
      yield bytes.subarray(cut);
    };
    const seen = [];
    for await (const { number: at, text } of linesOf(chunks(), 10)) seen.push([at, text]);
    expect(seen).toEqual([
      [1, 'ä'],
      [3, null],
      [4, 'last'],
    ]);
  }
});

test('a real member: exported timers are there again elsewhere, whole, and importing twice changes nothing', async () => {
  const [from, to] = [await real(), await real()];
  const client = new Carillon({ members: [from], refresh: null });
  const rich = {
    uri: 'http://127.0.0.1:9/',
    method: 'PUT',
    headers: { 'X-A': 'b' },
    timeout: '2s',
    retry: { maxAttempts: 3 },
    tags: ['x', 'y'],
    factor: 3,
  };
  const once = await client.set({ ...rich, in: '1h', opaque: 'once' });
  await client.set({ ...rich, every: '1h', count: 4 });
  await client.set({ ...rich, cron: '0 9 * * *', timezone: 'Europe/Berlin', forever: true });
  const path = join(folder, 'all.ndjson');
  expect((await cli(from, 'export', path)).out).toEqual([`3 timers in ${path}.`]);
  // The source has them all, as they are.
  expect((await cli(from, 'import', path)).out).toEqual([
    '0 set, 3 unchanged, 0 left out, 0 failed.',
  ]);
  const dry = await cli(to, 'import', path, '--dry-run');
  expect(dry.out).toEqual(['3 would be set, 0 unchanged, 0 left out, 0 failed.']);
  expect((await cli(to, 'import', path)).out).toEqual([
    '3 set, 0 unchanged, 0 left out, 0 failed.',
  ]);
  const versions = async () =>
    (await cli(to, 'list', '--json')).out.map(
      (text) => (JSON.parse(text) as { version: string }).version,
    );
  const before = await versions();
  expect((await cli(to, 'import', path)).out).toEqual([
    '0 set, 3 unchanged, 0 left out, 0 failed.',
  ]);
  expect(await versions()).toEqual(before);
  const there = await new Carillon({ members: [to], refresh: null }).get(once.id);
  const original = await client.get(once.id);
  const apartMs = Number(there?.nextDue) - Number(original?.nextDue);
  expect(Math.abs(apartMs)).toBeLessThan(1000);
  expect(there?.timing).toEqual({ at: there?.nextDue?.toISOString() });
  const again = await cli(to, 'export');
  const copy = again.out.find((text) => text.includes('"once"')) ?? '';
  expect(JSON.parse(copy)).toMatchObject({
    definition: {
      callback: {
        http: { method: 'PUT', headers: { 'x-a': 'b' }, timeout: 2 },
        retry: { 'max-attempts': 3 },
      },
      tags: ['x', 'y'],
    },
  });
});
