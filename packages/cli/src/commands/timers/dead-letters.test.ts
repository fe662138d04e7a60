/** `dead-letters`: lists, counts, and work on one, some or all of them. */
import { expect, test } from 'vitest';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import { runCommand as cli } from '../../testing/command-line.ts';
import { type Answer, type Asked, fakeMember, recordingIo } from '../../testing/world.ts';

const id = '0d1e1d1ab81140010000204080102040-2';
const letters = {
  'dead-letters': [{ id, timer: id, reason: 'refused', attempts: 4 }],
  cursor: null,
};
const deadLetters = ({ method, path }: Asked): Answer => {
  if (method === 'GET') return { body: letters };
  return path.includes(id) ? {} : { status: 404, body: {} };
};

test('dead letters: list them, send all again, and ask for a letter that is not there', async () => {
  expect((await cli(['dead-letters', 'list'], deadLetters)).out[1]).toContain('refused');
  const asJson = await cli(['dead-letters', 'list', '--json'], deadLetters);
  expect(asJson.out.map((line) => JSON.parse(line) as unknown)).toEqual(letters['dead-letters']);
  const again = await cli(['dead-letters', 'redeliver', '--all'], deadLetters);
  expect(again.out).toEqual([`${id} pops again.`]);
  expect(again.asked[1]).toMatchObject({ method: 'POST', path: `/dead-letters/${id}/redeliver` });
  const gone = await cli(['dead-letters', 'discard', id, 'x-2'], deadLetters);
  expect(gone.code).toBe(1);
  expect(gone.err).toEqual(['No dead letter has the id x-2.', '1 discarded, 1 were gone.']);
  const some = ['redeliver', '--receiver', 'http://a', '--failure', '5xx', '--rate', '1000'];
  const [listed] = (await cli(['dead-letters', ...some], deadLetters)).asked;
  expect(listed?.path).toContain('receiver=http%3A%2F%2Fa&failure=5xx');
});

test('dead letters: the newest comes first, with its whole reason unless a terminal is too narrow', async () => {
  const reason = `refused: No connection to the receiver came about (${'x'.repeat(80)}).`;
  const letter = (sequence: number, gaveUp: string): object => ({
    id,
    timer: id,
    sequence,
    reason,
    'last-failure': 'refused',
    'gave-up': gaveUp,
  });
  const body = {
    'dead-letters': [
      letter(1, '2026-01-01T00:00:01Z'),
      letter(3, '2026-01-01T00:00:03Z'),
      letter(2, '2026-01-01T00:00:02Z'),
    ],
    cursor: null,
  };
  const { out } = await cli(['dead-letters', 'list'], () => ({ body }));
  expect(out.slice(1).map((line) => line.split(/ {2,}/)[1])).toEqual(['3', '2', '1']);
  expect(out[1]?.split(/ {2,}/).slice(4)).toEqual(['refused', reason.slice('refused: '.length)]);
  const member = await fakeMember(() => ({ body }));
  const io = { ...recordingIo({ CARILLON_SERVER: member.url }), columns: 100 };
  await run(['dead-letters', 'list'], io, release);
  member.close();
  expect(io.outLines.map((line) => line.length)).toEqual([78, 100, 100, 100]);
});

test('dead letters: several that are sent again lead to the list, because their outcome is open', async () => {
  const two = ['dead-letters', 'redeliver', id, id];
  expect((await cli(two, deadLetters)).err).toEqual([
    '2 sent again. Letters that fail again are listed anew: npx carillon dead-letters list',
  ]);
});

test('dead letters: the summary is a table of receivers and failures, with a total', async () => {
  const groups = [
    { receiver: 'http://a', failure: '5xx', count: 7, oldest: '', newest: '' },
    { receiver: '', failure: 'refused', count: 2, oldest: '', newest: '' },
  ];
  const body = { total: 9, groups, missing: ['n2'] };
  const { out, err, asked } = await cli(['dead-letters', 'summary', '--tag', 't'], () => ({
    body,
  }));
  expect(asked[0]?.path).toBe('/dead-letters/summary?tag=t');
  expect(out.map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
    ['COUNT', 'FAILURE', 'RECEIVER'],
    ['7', '5xx', 'http://a'],
    ['2', 'refused', 'others'],
    ['9', 'in all'],
  ]);
  expect(err).toEqual(['No answer from n2: some may be missing.']);
});

test('dead letters: all that match are discarded by one request, never without a word on which', async () => {
  const { out, asked } = await cli(['dead-letters', 'discard', '--failure', '410'], () => ({
    body: { discarded: 3, more: false },
  }));
  expect(out).toEqual(['3 discarded.']);
  expect(asked[0]).toMatchObject({ method: 'DELETE', path: '/dead-letters?all=true&failure=410' });
  expect((await cli(['dead-letters', 'discard'], () => ({}))).code).toBe(2);
});
