/** A call that never left the member is no attempt. */
import { expect, test } from 'vitest';
import { startOne } from './testing/one-member.ts';

const minute = 60_000;
const refused = { kind: 'no-answer', reason: 'refused', detail: 'Nobody listens.' } as const;

function timer(timing: object, opaque = 'ding', retry: object = { 'max-attempts': 3, base: 0.3 }) {
  return { timing, callback: { http: { uri: 'http://receiver.test/', opaque }, retry } };
}

/** A member whose circuit to the receiver is open; the receiver is back. */
async function afterOutage() {
  const one = await startOne();
  one.receivers.script = () => refused;
  const items = Array.from({ length: 60 }, () => timer({ interval: 0.05 }, 'first'));
  await one.request('POST', '/timers/batch', items);
  await one.clock.advance(400);
  const letters = async () =>
    JSON.parse((await one.request('GET', '/dead-letters?limit=1000')).body)['dead-letters'];
  return { ...one, letters };
}

test('timers set after the receiver is back are delivered, though its circuit is open: none is dead', async () => {
  const one = await afterOutage();
  one.receivers.script = () => 200;
  const items = Array.from({ length: 50 }, () => timer({ interval: 0.05 }, 'second'));
  await one.request('POST', '/timers/batch', items);
  await one.clock.advance(minute);
  const taken = one.receivers.calls.filter(
    ({ request, result }) =>
      new TextDecoder().decode(request.body) === 'second' && result?.kind === 'answer',
  );
  expect(taken).toHaveLength(50);
  expect(await one.letters()).toEqual([]);
});

test('no pop is given up before it was tried as often as its policy says', async () => {
  const one = await afterOutage();
  await one.clock.advance(60 * minute);
  const dead = await one.letters();
  expect(dead.length).toBeGreaterThan(0);
  for (const { attempts } of dead) expect(attempts).toBe(3);
  const tried = one.receivers.calls.length;
  // The rest waits, and is tried when the receiver is back.
  one.receivers.script = () => 200;
  await one.clock.advance(10 * minute);
  expect((await one.letters()).length).toBe(dead.length);
  expect(one.receivers.calls.length - tried).toBe(60 - dead.length);
});

test('pops of a recurring timer that were never tried merge into one, as after downtime', async () => {
  const one = await afterOutage();
  // So many wait that others are tried instead.
  const others = Array.from({ length: 1000 }, () => timer({ interval: 0.05 }, 'other', {}));
  await one.request('POST', '/timers/batch', others);
  await one.request('POST', '/timers', timer({ interval: 10, forever: true }, 'series'));
  await one.clock.advance(20 * minute);
  one.receivers.script = () => 200;
  await one.clock.advance(5 * minute);
  const series = one.receivers.calls
    .filter(({ request }) => new TextDecoder().decode(request.body) === 'series')
    .map(({ request, result }) => ({
      sequence: Number(request.headers['x-sequence-number']),
      missed: Number(request.headers['x-timer-missed'] ?? 0),
      taken: result?.kind === 'answer',
    }));
  const [first] = series.filter(({ taken }) => taken);
  expect(first?.missed).toBeGreaterThan(10);
  // Delivered or dead, each pop once, and none left out.
  const dead = (await one.letters()).filter(
    (letter: { callback: { http: { opaque: string } } }) =>
      letter.callback.http.opaque === 'series',
  );
  const ends = [...dead, ...series.filter(({ taken }) => taken)].toSorted(
    (a, b) => a.sequence - b.sequence,
  );
  let reached = 0;
  for (const { sequence, missed } of ends) {
    expect(sequence - missed).toBe(reached + 1);
    reached = sequence;
  }
});
