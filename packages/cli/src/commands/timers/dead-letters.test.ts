/** `dead-letters`: lists, counts, and work on one, some or all of them. */
import { expect, test } from 'vitest';
import { runCommand as cli } from '../../testing/command-line.ts';
import type { Answer, Asked } from '../../testing/world.ts';

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
