import { afterEach, describe, expect, test } from 'vitest';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import {
  type Answer,
  type Asked,
  type FakeMember,
  fakeMember,
  recordingIo,
} from '../../testing/world.ts';

let member: FakeMember | null = null;

afterEach(() => {
  member?.close();
  member = null;
});

async function cli(args: readonly string[], script: (asked: Asked) => Answer) {
  member = await fakeMember((asked) =>
    asked.path === '/cluster' ? { body: { members: [] } } : script(asked),
  );
  const io = recordingIo({ CARILLON_SERVER: member.url });
  const code = await run(args, io, release);
  const asked = member.asked.filter(({ path }) => path !== '/cluster').map(({ path }) => path);
  return { code, out: io.outLines, err: io.errLines, asked };
}

const common = { timer: '0d1e1d1ab8114001', namespace: 'default', member: 'n1' };
const set = {
  kind: 'change',
  ...common,
  at: '2030-01-01T00:00:00.000Z',
  action: 'set',
  actor: 'shop',
  tag: null,
  pop: null,
  version: '1.1',
};
const attempt = {
  kind: 'attempt',
  ...common,
  member: 'n2',
  at: '2030-01-01T00:00:12.000Z',
  pop: 1,
  attempt: 1,
  status: 503,
  failure: '5xx',
  detail: 'closed\u001b[2J',
  'lateness-ms': 2000,
  'took-ms': 12,
  replica: 1,
};
const cancel = (i: number) => ({
  ...set,
  at: `2030-01-01T00:00:0${i}.000Z`,
  timer: `000000000000000${i}`,
  action: 'cancel',
  actor: 'night-shift',
  tag: 'order-17',
});

describe('history', () => {
  test('shows changes and attempts, the oldest first, over all pages', async () => {
    const pages = [
      { entries: [attempt], cursor: 'c', missing: ['n3'] },
      { entries: [set], cursor: null, missing: ['n3'] },
    ];
    const { code, out, err, asked } = await cli(['history', '0d1e1d1ab8114001'], ({ path }) => ({
      body: path.includes('cursor=c') ? pages[1] : pages[0],
    }));
    expect(code).toBe(0);
    expect(out.map((line) => line.split(/\s{2,}/))).toEqual([
      ['AT', 'WHAT', 'POP', 'LATENESS', 'TOOK', 'MEMBER', 'DETAIL'],
      ['2030-01-01T00:00:00.000Z', 'set', '-', '-', '-', 'n1', 'by shop'],
      ['2030-01-01T00:00:12.000Z', 'attempt', '1', '2s', '12ms', 'n2 (backup 1)', '503 closed·[2J'],
    ]);
    expect(err).toEqual(['No answer from n3: entries may be missing.']);
    expect(asked).toEqual([
      '/timers/0d1e1d1ab8114001/history?limit=1000',
      '/timers/0d1e1d1ab8114001/history?limit=1000&cursor=c',
    ]);
  });

  test('gives programs the entries as the API has them', async () => {
    const body = { entries: [attempt, set], cursor: null, missing: [] };
    const { out } = await cli(['history', 'aa', '--json', '--limit', '2'], () => ({ body }));
    expect(out.map((line) => JSON.parse(line) as unknown)).toEqual([set, attempt]);
  });

  test('of a timer that no member remembers exits 1', async () => {
    const body = { entries: [], cursor: null, missing: [] };
    const { code, err } = await cli(['history', 'aa'], () => ({ body }));
    expect([code, err]).toEqual([1, ['Members remember nothing of this timer.']]);
  });

  test.each([
    [['history'], /Name one timer/],
    [['history', 'a', '--since', 'soon'], /--since must be a duration such as 2h/],
    [['history', 'a', '--limit', '0'], /--limit must be/],
    [['audit', 'a'], /carillon history shows one timer/],
    [['audit', '--action', 'explode'], /--action must be one of set, replace/],
  ])('%j is not understood', async (args, sentence) => {
    const { code, err } = await cli(args, () => ({}));
    expect(code).toBe(2);
    expect(err.join(' ')).toMatch(sentence);
  });
});

describe('audit', () => {
  test('shows the timers that one request cancelled by tag in one line, with the token', async () => {
    const entries = [cancel(3), cancel(2), cancel(1), set];
    const { out, asked } = await cli(
      ['audit', '--actor', 'night-shift', '--action', 'cancel', '--since', '2030-01-01'],
      () => ({ body: { entries, cursor: null, missing: [] } }),
    );
    expect(out.map((line) => line.split(/\s{2,}/))).toEqual([
      ['AT', 'ACTION', 'ACTOR', 'TIMER', 'TAG', 'POP', 'MEMBER'],
      ['2030-01-01T00:00:00.000Z', 'set', 'shop', '0d1e1d1ab8114001', '-', '-', 'n1'],
      ['2030-01-01T00:00:01.000Z', 'cancel', 'night-shift', '3 timers', 'order-17', '-', 'n1'],
    ]);
    expect(asked[0]).toBe(
      '/audit?since=2030-01-01T00%3A00%3A00.000Z&actor=night-shift&action=cancel&limit=1000',
    );
  });

  test('shows neighbouring changes of dead letters in one line, and each of them with --action', async () => {
    const letter = (action: string, pop: number, on: string) => ({
      ...set,
      action,
      pop,
      member: on,
      actor: action === 'give-up' ? null : 'night-shift',
    });
    const entries = [
      letter('redeliver', 2, 'n1'),
      letter('redeliver', 1, 'n1'),
      letter('give-up', 2, 'n2'),
      letter('give-up', 1, 'n1'),
      cancel(1),
    ];
    const body = { entries, cursor: null, missing: [] };
    const rows = async (...flags: string[]): Promise<readonly string[][]> => {
      const { out } = await cli(['audit', ...flags], () => ({ body }));
      member?.close();
      return out.slice(1).map((line) => line.split(/\s{2,}/).slice(1));
    };
    expect(await rows()).toEqual([
      ['cancel', 'night-shift', '0000000000000001', 'order-17', '-', 'n1'],
      ['give-up', '-', '2 pops', '-', '-', 'n1, n2'],
      ['redeliver', 'night-shift', '2 pops', '-', '-', 'n1'],
    ]);
    expect(await rows('--action', 'give-up')).toHaveLength(5);
  });

  test('follows: each change is shown once, although answers overlap', async () => {
    let asks = 0;
    const io = { abort: () => {} };
    const entries: unknown[] = [set];
    member = await fakeMember((asked) => {
      if (asked.path === '/cluster') return { body: { members: [] } };
      asks++;
      if (asks === 2) entries.unshift(cancel(1));
      if (asks === 4) io.abort();
      return { body: { entries, cursor: null, missing: [] } };
    });
    const recording = recordingIo({ CARILLON_SERVER: member.url });
    io.abort = () => recording.abort();
    await run(['audit', '--follow', '--json'], recording, release);
    const told = recording.outLines.map((line) => (JSON.parse(line) as { action: string }).action);
    expect(told).toEqual(['set', 'cancel']);
  });
});
