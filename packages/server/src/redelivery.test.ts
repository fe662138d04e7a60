/** Redelivering a dead letter is one pop with the letter's sequence, for every kind of timing. */
import { expect, test } from 'vitest';
import { header, type OneMember, startOne } from './testing/one-member.ts';

const minute = 60_000;

interface Letter {
  readonly id: string;
  readonly sequence: number;
  readonly attempts: number;
}

async function letters({ request }: OneMember): Promise<Letter[]> {
  return JSON.parse((await request('GET', '/dead-letters?limit=1000')).body)['dead-letters'];
}

function timer(timing: object) {
  const retry = { 'max-attempts': 1 };
  return { timing, callback: { http: { uri: 'http://receiver.test/', opaque: 'ding' }, retry } };
}

function sequences({ receivers }: OneMember): number[] {
  return receivers.calls.map(({ request }) => Number(request.headers['x-sequence-number']));
}

/** A member with the letter of the first pop of a timer that goes on, and a receiver that is well again. */
async function withLetter(timing: object) {
  const one = await startOne();
  one.receivers.script = () => 503;
  const set = await one.request('POST', '/timers', timer(timing));
  while ((await letters(one)).length === 0) await one.clock.advance(1000);
  one.receivers.script = () => 200;
  const [letter] = await letters(one);
  return { ...one, letter: letter as Letter, path: header(set, 'location') ?? '' };
}

const recurring = [
  { kind: 'that repeats', timing: { interval: 100, 'repeat-for': 10_000 } },
  { kind: 'without an end', timing: { interval: 100, forever: true } },
  { kind: 'by cron', timing: { cron: '*/10 * * * *', forever: true } },
];

test.each(recurring)(
  'the letter of a timer $kind makes one callback, and the timer goes on',
  async ({ timing }) => {
    const one = await withLetter(timing);
    const before = one.receivers.calls.length;
    expect((await one.request('POST', `/dead-letters/${one.letter.id}/redeliver`)).status).toBe(
      200,
    );
    await one.clock.advance(1000);
    expect(sequences(one).slice(before)).toEqual([one.letter.sequence]);
    expect(await letters(one)).toEqual([]);
    const after = one.receivers.calls.length;
    await one.clock.advance(60 * minute);
    const series = sequences(one).slice(after);
    expect(series.length).toBeGreaterThan(5);
    expect(series).toEqual(series.map((_, i) => one.letter.sequence + 1 + i));
  },
);

test.each(recurring)(
  'the letter of a cancelled timer $kind makes one callback and no more',
  async ({ timing }) => {
    const one = await withLetter(timing);
    await one.request('DELETE', one.path);
    const before = one.receivers.calls.length;
    await one.request('POST', `/dead-letters/${one.letter.id}/redeliver`);
    await one.clock.advance(60 * minute);
    expect(sequences(one).slice(before)).toEqual([one.letter.sequence]);
    expect(await letters(one)).toEqual([]);
  },
);

test.each(recurring)(
  'a letter of a timer $kind whose redelivery fails is a letter again, with one attempt more',
  async ({ timing }) => {
    const one = await withLetter(timing);
    await one.request('DELETE', one.path);
    const before = one.receivers.calls.length;
    one.receivers.script = () => 503;
    await one.request('POST', `/dead-letters/${one.letter.id}/redeliver`);
    await one.clock.advance(60 * minute);
    expect(sequences(one).slice(before)).toEqual([one.letter.sequence]);
    const { id, sequence } = one.letter;
    expect(await letters(one)).toMatchObject([{ id, sequence, attempts: 2 }]);
  },
);

test('after an outage each of 2,500 letters of recurring timers makes one callback', async () => {
  const one = await startOne();
  one.receivers.script = () => 503;
  const forever = timer({ interval: 1000, forever: true });
  const items = Array.from({ length: 1000 }, () => ({ ...forever, tags: ['outage'] }));
  // Three pages of letters.
  for (const size of [1000, 1000, 500]) {
    await one.request('POST', '/timers/batch', items.slice(0, size));
  }
  await one.clock.advance(1001_000);
  one.receivers.script = () => 200;
  await one.request('DELETE', '/timers?tag=outage');
  const before = one.receivers.calls.length;
  for (let left = await letters(one); left.length > 0; left = await letters(one)) {
    for (const { id } of left) await one.request('POST', `/dead-letters/${id}/redeliver`);
    await one.clock.advance(1000);
  }
  await one.clock.advance(5_000_000);
  expect(one.receivers.calls.length - before).toBe(2500);
});

test('a letter that is asked for twice at the same time is delivered once', async () => {
  const one = await withLetter({ interval: 100, forever: true });
  const before = one.receivers.calls.length;
  const path = `/dead-letters/${one.letter.id}/redeliver`;
  await Promise.all([one.request('POST', path), one.request('POST', path)]);
  await one.clock.advance(1000);
  expect(sequences(one).slice(before)).toEqual([one.letter.sequence]);
});
