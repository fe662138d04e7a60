import type { CallbackRequest, CallbackResult } from '@carillon/core';
import { VirtualClock } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import { definitionOf, recordOf } from '../../testing/records.ts';
import { Batches } from './batches.ts';
import type { Begin } from './destinations.ts';
import type { PopContext } from '../../callback/request.ts';

const uri = 'http://receiver.test/';
const split = { origin: 'http://receiver.test', path: '/' };
const ok: CallbackResult = { kind: 'answer', status: 200, retryAfterMs: null };
const cut: CallbackResult = { kind: 'no-answer', reason: 'cut', detail: '' };

function rig({ countMax = 500, queueLengthMax = 3 } = {}) {
  const clock = new VirtualClock();
  const calls: { begin: Begin; done: (result: CallbackResult) => void }[] = [];
  const batches = new Batches({
    clock,
    destinations: {
      waitMs: () => 0,
      delayedUntilMs: () => Number.NEGATIVE_INFINITY,
      call: (_, begin, done) => void calls.push({ begin, done }),
    },
    instant: () => ({ nowMs: clock.now(), wallMs: clock.wall() }),
    signer: () => null,
    limits: { countMax, lengthMax: 1200 },
    queueLengthMax,
  });
  const results: [name: string, result: CallbackResult][] = [];
  const call = (name: string, alone = false): void => {
    const begin = (): PopContext => popOf(name);
    const done = (result: CallbackResult): void => void results.push([name, result]);
    batches.call({ uri, split, namespace: 'default', batch: true, alone }, begin, done);
  };
  return { clock, calls, batches, results, call };
}

function popOf(opaque: string): PopContext {
  const definition = definitionOf({ uri, opaque, batch: true });
  const at = { nowMs: 10_000, wallMs: 10_000 };
  return {
    record: recordOf(),
    definition,
    split,
    missed: 0,
    id: 'id',
    timeoutMs: 1000,
    at,
    due: '',
    trace: null,
  };
}

function countOf(request: CallbackRequest | null | undefined): string | undefined {
  return request?.headers['x-timer-count'];
}

it('a pop that failed before goes alone, however many wait with it', async () => {
  const { clock, calls, call, batches } = rig();
  call('a', true);
  call('b', true);
  call('c');
  await clock.advance(1);
  expect(calls.map(({ begin }) => countOf(begin()))).toEqual(['1', '1', '1']);
  const definition = definitionOf({ uri, batch: true });
  const to = [0, 1].map((attempt) => batches.addresseeOf(recordOf({ attempt }), definition));
  expect(to).toMatchObject([
    { uri, split, batch: true, alone: false },
    { uri, split, batch: true, alone: true },
  ]);
});

it('a batch that has grown large leaves without the rest, which follows', async () => {
  const { clock, calls, results, call } = rig();
  for (const name of ['a'.repeat(900), 'b'.repeat(900), 'c']) call(name);
  await clock.advance(1);
  expect(countOf(calls[0]?.begin())).toBe('2');
  await clock.advance(1);
  expect(countOf(calls[1]?.begin())).toBe('1');
  calls[0]?.done(ok);
  expect(results.map(([name]) => name[0])).toEqual(['a', 'b']);
});

it('all pops that wait for a receiver that is left alone get the same answer at once', async () => {
  const { clock, calls, results, call, batches } = rig();
  for (const name of ['a', 'b', 'c']) call(name);
  const crowded = { uri, split, namespace: 'default', batch: true, alone: false };
  expect(batches.waitMs(crowded)).toBeGreaterThan(0);
  expect(batches.waitMs({ ...crowded, namespace: 'other' })).toBe(0);
  await clock.advance(1);
  calls[0]?.done(cut);
  expect(results).toEqual(['a', 'b', 'c'].map((name) => [name, cut]));
  expect(batches.waitMs(crowded)).toBe(0);
  call('d');
  await clock.advance(1);
  expect(countOf(calls[1]?.begin())).toBe('1');
});

it('waiting pops are counted by uri and namespace, also where none waited for a while', async () => {
  const { clock, calls, call, batches } = rig();
  const waiting = { uri, split, namespace: 'default', batch: true, alone: false };
  call('a');
  await clock.advance(1);
  calls[0]?.begin();
  for (const name of ['b', 'c', 'd']) call(name);
  batches.call({ ...waiting, namespace: 'other' }, () => popOf('e'), unwanted);
  expect(batches.waitMs(waiting)).toBeGreaterThan(0);
  expect(batches.waitMs({ ...waiting, namespace: 'other' })).toBe(0);
});

it('as many batches wait for a place as all pops need, and each takes the pops that are there by then', async () => {
  const { clock, calls, call, results } = rig({ countMax: 2 });
  for (const name of ['a', 'b', 'c', 'd', 'e']) call(name);
  await clock.advance(1);
  expect(calls).toHaveLength(3);
  call('f');
  await clock.advance(1);
  expect(calls).toHaveLength(3);
  expect(calls.map(({ begin }) => countOf(begin()))).toEqual(['2', '2', '2']);
  for (const { done } of calls) done(ok);
  expect(results.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  call('g');
  await clock.advance(1);
  expect(countOf(calls[3]?.begin())).toBe('1');
});

it('pops that are gone when their batch leaves make room for others; a batch of none is no request', async () => {
  const { clock, calls, call, batches } = rig({ countMax: 2 });
  const to = batches.addresseeOf(recordOf(), popOf('').definition);
  const gone = () => batches.call(to, () => null, unwanted);
  gone();
  call('a');
  gone();
  call('b');
  await clock.advance(1);
  expect(calls.map(({ begin }) => countOf(begin()))).toEqual(['2', undefined]);
});

it('while some are refused, batches that still wait take the pops that come later', async () => {
  const { clock, calls, call, results } = rig({ countMax: 2, queueLengthMax: 100 });
  for (const name of ['a', 'b', 'c']) call(name);
  await clock.advance(1);
  calls[0]?.done(cut);
  expect(results.map(([name]) => name)).toEqual(['a', 'b', 'c']);
  call('d');
  await clock.advance(1);
  expect(calls).toHaveLength(2);
  expect(countOf(calls[1]?.begin())).toBe('1');
  calls[1]?.done(ok);
  expect(results.at(-1)).toEqual(['d', ok]);
});

function unwanted(): void {
  throw new Error('A pop that was gone has no outcome.');
}

const together = (status: number, failed: readonly number[] | null = null): CallbackResult => ({
  kind: 'answer',
  status,
  retryAfterMs: null,
  together: { countMax: 500, failed },
});

/** A rig, and pops of timers that do not ask to go together. */
function unasking() {
  const given = rig({ queueLengthMax: 1000 });
  const { batches, results } = given;
  const plain = definitionOf({ uri, batch: false });
  const pop = (name: string, more: { attempt?: number } = {}): void => {
    const to = batches.addresseeOf(recordOf(more), plain);
    batches.call(
      to,
      () => popOf(name),
      (result) => void results.push([name, result]),
    );
  };
  return { ...given, plain, pop };
}

/** The same with a receiver that has said that it takes pops together. */
async function learning(countMax?: number) {
  const given = unasking();
  const { calls, clock, results, pop } = given;
  pop('first');
  const [first] = calls.splice(0);
  expect(countOf(first?.begin())).toBeUndefined();
  const answer = together(200);
  first?.done(
    countMax === undefined || answer.kind !== 'answer'
      ? answer
      : { ...answer, together: { countMax, failed: null } },
  );
  results.splice(0);
  let left = 0;
  const leave = async (): Promise<(string | undefined)[]> => {
    await clock.advance(1);
    const counts = calls.slice(left).map(({ begin }) => countOf(begin()));
    left = calls.length;
    return counts;
  };
  return { ...given, leave };
}

it('after a receiver has said so, pops of timers that did not ask for it come together', async () => {
  const { pop, leave, calls, results } = await learning();
  for (const name of ['a', 'b', 'c']) pop(name);
  expect(await leave()).toEqual(['3']);
  calls[0]?.done(together(200));
  expect(results.map(([name, result]) => [name, 'status' in result && result.status])).toEqual(
    ['a', 'b', 'c'].map((name) => [name, 200]),
  );
});

it('pops that wait one by one for a place go together once the receiver has said so', async () => {
  const { pop, calls, clock, results } = unasking();
  for (const name of ['first', 'a', 'b']) pop(name);
  expect(countOf(calls[0]?.begin())).toBeUndefined();
  calls[0]?.done(together(200));
  expect(calls.slice(1).map(({ begin }) => begin())).toEqual([null, null]);
  await clock.advance(1);
  expect(calls.slice(3).map(({ begin }) => countOf(begin()))).toEqual(['2']);
  calls[3]?.done(together(200, [1]));
  expect(results.map(([name, result]) => [name, 'status' in result && result.status])).toEqual([
    ['first', 200],
    ['a', 200],
    ['b', 500],
  ]);
});

it('no more than 4096 pops join the others in one turn of the event loop', async () => {
  const { pop, calls, clock } = unasking();
  for (let i = 0; i < 4100; i++) pop(String(i));
  calls[0]?.begin();
  calls[0]?.done(together(200));
  const waiting = calls.slice(1);
  const left = waiting.slice(0, 4098).map(({ begin }) => begin());
  expect(left.filter((request) => request === null)).toHaveLength(4096);
  expect(left.slice(4096).map((request) => request?.headers['x-timer-count'])).toEqual([
    undefined,
    undefined,
  ]);
  await clock.advance(1);
  expect(waiting[4098]?.begin()).toBeNull();
});

it('as many as the receiver says, and each by itself that failed before or has headers or a method', async () => {
  const { pop, leave, batches } = await learning(2);
  for (const name of ['a', 'b', 'c']) pop(name);
  expect(await leave()).toEqual(['2', '1']);
  pop('d', { attempt: 1 });
  expect((await leave()).at(-1)).toBeUndefined();
  const isBatch = (definition: Parameters<typeof definitionOf>[0]): boolean =>
    batches.addresseeOf(recordOf(), definitionOf({ uri, batch: false, ...definition })).batch;
  expect([isBatch({}), isBatch({ method: 'PUT' }), isBatch({ headers: { a: 'b' } })]).toEqual([
    true,
    false,
    false,
  ]);
});

it('an answer can say which pops failed; the others are done', async () => {
  const { pop, leave, calls, results } = await learning();
  for (const name of ['a', 'b', 'c', 'd']) pop(name);
  await leave();
  calls[0]?.done(together(503, [1, 3]));
  expect(results.map(([, result]) => 'status' in result && result.status)).toEqual([
    200, 503, 200, 503,
  ]);
});

it('pops that are named as failed have failed, even with a status of 200', async () => {
  const { pop, leave, calls, results } = await learning();
  for (const name of ['a', 'b']) pop(name);
  await leave();
  calls[0]?.done(together(200, [1]));
  expect(results.map(([, result]) => 'status' in result && result.status)).toEqual([200, 500]);
});

it.each([200, 400, 415, 500])(
  'an instance that answers %i without saying so has tried nothing: its pops come one by one',
  async (status) => {
    const { pop, leave, calls, results, batches, plain } = await learning();
    for (const name of ['a', 'b']) pop(name);
    await leave();
    calls[0]?.done({ kind: 'answer', status, retryAfterMs: null });
    expect(results.map(([, { kind }]) => kind)).toEqual(['unmade', 'unmade']);
    expect(batches.addresseeOf(recordOf(), plain).batch).toBe(false);
  },
);

it('no answer to pops that went together is a failed attempt of each', async () => {
  const { pop, leave, calls, results } = await learning();
  for (const name of ['a', 'b']) pop(name);
  await leave();
  calls[0]?.done(cut);
  expect(results.map(([, { kind }]) => kind)).toEqual(['no-answer', 'no-answer']);
});

it('timers that ask for it keep the answer as it is, said or not', async () => {
  const { clock, calls, results, call } = rig();
  for (const name of ['a', 'b']) call(name);
  await clock.advance(1);
  calls[0]?.begin();
  const no: CallbackResult = { kind: 'answer', status: 500, retryAfterMs: null };
  calls[0]?.done(no);
  expect(results).toEqual([
    ['a', no],
    ['b', no],
  ]);
});
