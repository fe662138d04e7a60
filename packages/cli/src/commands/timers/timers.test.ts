import { describe, expect, test } from 'vitest';
import { runCommand } from '../../testing/command-line.ts';
import type { Answer, Asked } from '../../testing/world.ts';

const id = '0d1e1d1ab81140010000204080102040-2';
/** Without the requests for the view. */
async function cli(args: readonly string[], script: (asked: Asked) => Answer = () => ({})) {
  const ran = await runCommand(args, script);
  return { ...ran, asked: ran.asked.filter(({ path }) => path !== '/cluster') };
}

describe('run', () => {
  test('prints the id of the new timer and passes the key on', async () => {
    const answer = { headers: { location: `/timers/${id}`, 'carillon-copies': '2/2' } };
    const { code, out, asked } = await cli(['run', 'aa-2', '--idempotency-key', 'k'], () => answer);
    expect([code, out]).toEqual([0, [id]]);
    expect(asked[0]).toMatchObject({ method: 'POST', path: '/timers/aa-2/run' });
    expect(asked[0]?.headers['idempotency-key']).toBe('k');
  });

  test('of a timer that has ended says how it ended and exits 1', async () => {
    const detail = 'The timer was cancelled at 2026-01-01T00:00:00.000Z.';
    const { code, out, err } = await cli(['run', id], () => ({ status: 404, body: { detail } }));
    expect([code, out, err]).toEqual([1, [], [detail]]);
    const asJson = await cli(['run', id, '--json'], () => ({ status: 404, body: { detail } }));
    expect([asJson.code, asJson.out]).toEqual([1, []]);
    expect(JSON.parse(asJson.err[0] ?? '')).toMatchObject({ error: detail, status: 404 });
  });

  test('needs one id', async () => {
    expect((await cli(['run'])).code).toBe(2);
    expect((await cli(['run', id, id])).code).toBe(2);
  });
});

describe('preview', () => {
  const preview = {
    timezone: 'Europe/Berlin',
    pops: [{ due: '2030-01-31T08:00:00.000Z', local: '2030-01-31T09:00:00.000+01:00' }],
    more: true,
  };

  test.each([
    [
      ['0 9 * * 1-5', '--timezone', 'Europe/Berlin'],
      { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', forever: true },
    ],
    [['@daily'], { cron: '@daily', forever: true }],
    [['--cron', '0 9 * * *', '--count', '3'], { cron: '0 9 * * *', count: 3 }],
    [['--every', '10s'], { interval: 10, forever: true }],
    [['10s'], { interval: 10 }],
    [['--at', '2030-01-31T09:00:00Z'], { at: '2030-01-31T09:00:00.000Z' }],
  ])('%j asks for %j', async (args, timing) => {
    const { code, asked } = await cli(['preview', ...args], () => ({ body: preview }));
    expect(code).toBe(0);
    expect(asked[0]?.path).toMatch(/^\/timers\/preview/);
    expect(asked[0]?.body).toEqual({ timing });
  });

  test('prints pops in UTC and in the zone', async () => {
    const { out, err } = await cli(['preview', '0 9 * * *'], () => ({ body: preview }));
    expect(out[0]).toMatch(/^UTC +EUROPE\/BERLIN/);
    expect(out[1]).toMatch(/^2030-01-31T08:00:00.000Z +2030-01-31T09:00:00.000\+01:00 +in /);
    expect(err).toEqual(['More pops follow.']);
  });

  test('in UTC there is one column of times', async () => {
    const pops = [{ due: '2030-01-31T08:00:00.000Z', local: '2030-01-31T08:00:00.000Z' }];
    const body = { timezone: 'UTC', pops, more: false };
    const { out } = await cli(['preview', '10s'], () => ({ body }));
    expect(out[0]).toBe('UTC');
    expect(out[1]).toMatch(/^2030-01-31T08:00:00.000Z +in /);
  });

  test.each([[[]], [['0', '9', '*', '*', '*']], [['0 9 * * *', '--cron', '0 8 * * *']]])(
    '%j is not understood',
    async (args) => {
      expect((await cli(['preview', ...args])).code).toBe(2);
    },
  );
});

describe('get', () => {
  const timer = { id, state: 'pending', 'last-failure': '5xx', 'last-outcome': 500 };

  test('shows a recurring timer whose newest pop was given up as failing, with its dead letter', async () => {
    const body = { ...timer, 'dead-letter': 'bb-2' };
    const { code, out, err } = await cli(['get', id], ({ path }) =>
      path.endsWith('/attempts') ? { body: { attempts: [], missing: [] } } : { body },
    );
    expect(code).toBe(0);
    expect(out.join('\n')).toMatch(/^state +failing$/m);
    expect(out.join('\n')).toMatch(/^dead letter +bb-2$/m);
    expect(err).toEqual([expect.stringMatching(/carillon dead-letters redeliver bb-2$/)]);
  });

  test('says that there was no answer where the receiver said nothing, and since when a pop is due', async () => {
    const body = {
      ...timer,
      state: 'retrying',
      attempt: 2,
      'next-due': '2026-01-01T00:00:00Z',
      'last-detail': 'No connection to the receiver came about.',
    };
    const shown = async (outcome: number | string): Promise<string> => {
      const script = ({ path }: { path: string }): object =>
        path.endsWith('/attempts')
          ? { body: { attempts: [], missing: [] } }
          : { body: { ...body, 'last-outcome': outcome } };
      return (await cli(['get', id], script)).out.join('\n');
    };
    expect(await shown('refused')).toMatch(/^no answer +No connection to the receiver/m);
    expect(await shown('refused')).toMatch(/^pop was due +2026-01-01T00:00:00.000Z \(.* ago\)$/m);
    expect(await shown(503)).toMatch(/^receiver said +No connection/m);
  });

  test('of a timer whose last pop was given up names a command, and no request', async () => {
    const body = {
      ended: 'given-up',
      'dead-letter': 'bb-2',
      detail: 'The last pop was given up. GET /dead-letters/bb-2 shows it.',
    };
    const { err } = await cli(['get', id], ({ path }) =>
      path.endsWith('/attempts') ? { body: { attempts: [], missing: [] } } : { status: 404, body },
    );
    expect(err.slice(0, 2)).toEqual([
      'The last pop was given up.',
      'Deliver it again: npx carillon dead-letters redeliver bb-2',
    ]);
  });

  test('--json of a timer that has ended has how it ended and its dead letter', async () => {
    const end = {
      ended: 'given-up',
      'ended-at': '2026-01-01T00:00:00Z',
      pops: 3,
      'dead-letter': 'bb-2',
    };
    const detail = 'The last pop of the timer was given up.';
    const { code, err } = await cli(['get', id, '--json'], ({ path }) =>
      path.endsWith('/attempts')
        ? { body: { attempts: [], missing: [] } }
        : { status: 404, body: { ...end, detail, status: 404 } },
    );
    expect(code).toBe(1);
    expect(JSON.parse(err[0] ?? '')).toEqual({ error: detail, ...end, attempts: [], missing: [] });
  });
});

describe('list', () => {
  test.each([
    [['list', '--all'], 1],
    [['list', '--all', '--json'], 1],
    [['list'], 0],
  ])('%j with a member that did not answer names it once and exits %i', async (args, code) => {
    const result = await cli(args, ({ path }) => {
      const cursor = path.includes('cursor=') ? null : 'next';
      return { body: { timers: [], cursor, missing: ['n2'] } };
    });
    const said = result.err.filter((line) => line.includes('n2'));
    expect([result.code, said]).toEqual([code, ['No answer from n2: timers may be missing.']]);
  });

  test('of dead ones says that the ids are those of letters, and which command tells more', async () => {
    const { err } = await cli(['list', '--state', 'dead'], () => ({
      body: { timers: [{ id, state: 'dead' }], cursor: null, missing: [] },
    }));
    expect(err).toEqual([
      'These are ids of dead letters. Their pops and reasons: npx carillon dead-letters list',
    ]);
  });

  test('passes order, range and filters on; a duration counts from now', async () => {
    const args = [
      'list',
      '--order',
      'due',
      '--from',
      '2030-01-31T09:00:00Z',
      '--to',
      '1h',
      '--json',
    ];
    const more = ['--tag-prefix', 'order:', '--receiver', 'http://a', '--failure', '5xx'];
    const page = { body: { timers: [], cursor: null, missing: [] } };
    const beforeMs = Date.now();
    const { code, asked } = await cli([...args, ...more, '--state', 'failing'], () => page);
    expect(code).toBe(0);
    const query = new URL(asked[0]?.path ?? '', 'http://member').searchParams;
    expect(Object.fromEntries(query)).toMatchObject({
      order: 'due',
      from: '2030-01-31T09:00:00.000Z',
      'tag-prefix': 'order:',
      receiver: 'http://a',
      failure: '5xx',
      state: 'failing',
    });
    expect(Date.parse(query.get('to') ?? '') - beforeMs).toBeGreaterThanOrEqual(3_600_000);
  });

  test.each([
    [true, '12'],
    [false, 'about 12'],
  ])('--count says how many there are, exact %s', async (exact, words) => {
    const body = { timers: [], cursor: null, missing: [], total: { count: 12, exact } };
    const { out } = await cli(['list', '--tag', 'x', '--count'], () => ({ body }));
    expect(out).toEqual([words]);
  });

  test.each([
    ['--order', 'id'],
    ['--from', 'soon'],
    ['--to', ''],
  ])('%s %s is refused in a sentence', async (flag, value) => {
    const { code, err } = await cli(['list', flag, value]);
    expect([code, err.join()]).toEqual([2, expect.stringContaining(flag)]);
  });
});
