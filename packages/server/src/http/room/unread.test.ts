/** Answers that clients do not read: the bytes that wait are bounded, for each client and for all together. */
import { VirtualClock } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import { type Dialled, type Serving, serving, type ServingOptions } from '../listening.contract.ts';
import { type ApiResponse, pageResponse, textResponse } from '../message.ts';
import { AnswerRoom, longAnswerBytes, type Reader } from './answer-room.ts';

const MiB = 1024 * 1024;
const item = 'x'.repeat(64 * 1024);
/** Items of one page: more bytes than any kernel buffers for a connection. */
const itemCount = 300;

interface Lists {
  readonly at: Serving;
  /** Requests that were worked on. */
  asked: number;
  /** Items that were put into words. */
  rendered: number;
}

/** Lists of large items; `/small` is something else. */
async function lists(options: ServingOptions = {}): Promise<Lists> {
  const handle = ({ path }: { path: string }): ApiResponse => {
    if (path === '/small') return textResponse('small');
    made.asked++;
    const items = Array.from({ length: itemCount });
    const render = (): string => {
      made.rendered++;
      return item;
    };
    return pageResponse('items', items, render, { cursor: null });
  };
  const isLong = (_: string, path: string): boolean => path === '/list';
  const made = { at: await serving(handle, { isLong, ...options }), asked: 0, rendered: 0 };
  return made;
}

/** A client that asks and does not read. */
async function greedy(at: Serving, times: number): Promise<Dialled> {
  const client = await at.dial();
  client.socket.pause();
  client.send('GET /list HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(times));
  return client;
}

test('of lists that a client does not read, one is worked on, and only the part that it reads is rendered', async () => {
  const made = await lists();
  await using at = made.at;
  const clients = await Promise.all(Array.from({ length: 20 }, () => greedy(at, 32)));
  const other = await at.dial();
  other.send('GET /small HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await other.until(/small$/);
  await expect.poll(() => made.asked).toBe(clients.length);
  expect(made.rendered).toBeLessThan((clients.length * itemCount) / 2);
  for (const client of [other, ...clients]) client.socket.destroy();
});

test('a client that reads gets one list after the other, whole', async () => {
  const made = await lists();
  await using at = made.at;
  const answer = await fetch(`${at.url}/list`);
  const { items, cursor } = (await answer.json()) as { items: string[]; cursor: null };
  expect([items.length, items.at(-1) === item, cursor]).toEqual([itemCount, true, null]);
  // On the same connection.
  expect((await (await fetch(`${at.url}/list`)).text()).endsWith('],"cursor":null}')).toBe(true);
  expect(await (await fetch(`${at.url}/small`)).text()).toBe('small');
  expect(made.asked).toBe(2);
});

test('without room for another list the answer is 503; there is room again when clients that do not read are cut', async () => {
  const clock = new VirtualClock();
  const overrides = { 'limits.answerBytesMax': 4 * MiB };
  const made = await lists({ clock, overrides });
  await using at = made.at;
  const idle = [await greedy(at, 1), await greedy(at, 1)];
  await expect.poll(() => made.asked).toBe(2);
  const client = await at.dial();
  const ask = 'GET /list HTTP/1.1\r\nhost: localhost\r\n\r\n';
  client.send(ask);
  await client.until(/HTTP\/1\.1 503 .*retry-after/is);
  expect(at.metrics.httpRefused.count('unread')).toBe(1);
  client.send('GET /small HTTP/1.1\r\nhost: localhost\r\n\r\n');
  await client.until(/small$/);
  await clock.advance(10_000);
  expect((await (await fetch(`${at.url}/list`)).text()).length).toBeGreaterThan(MiB);
  for (const each of [client, ...idle]) each.socket.destroy();
});

test('other answers that are not read are bounded too: nothing more is worked on, and the client is cut', async () => {
  const clock = new VirtualClock();
  let asked = 0;
  const overrides = { 'limits.answerBytesMax': 4 * MiB };
  const handle = (): ApiResponse => {
    asked++;
    return textResponse('x'.repeat(16 * MiB));
  };
  await using at = await serving(handle, { clock, overrides });
  const client = await greedy(at, 32);
  await expect.poll(() => asked).toBe(1);
  await clock.advance(10_000);
  client.socket.resume();
  await client.closed;
  expect([asked, at.metrics.httpRefused.count('unread')]).toEqual([1, 1]);
});

describe('room for long answers', () => {
  function reader(takenMs: number, cut: string[], name: string): Reader {
    return { takenMs, cut: () => void cut.push(name) };
  }

  test('is given to so many as fit, and back again', () => {
    const room = new AnswerRoom(3 * longAnswerBytes);
    const readers = [1, 2, 3, 4].map(() => reader(0, [], ''));
    expect(readers.map((each) => room.take(each, 0))).toEqual([true, true, true, false]);
    expect(room.bytes).toBe(3 * longAnswerBytes);
    room.give(readers[1] as Reader);
    expect(room.take(readers[3] as Reader, 0)).toBe(true);
  });

  test('is taken from the client that has read nothing for longest, if that is long', () => {
    const cut: string[] = [];
    const room = new AnswerRoom(2 * longAnswerBytes);
    room.take(reader(2000, cut, 'later'), 2000);
    room.take(reader(1000, cut, 'first'), 2000);
    const comer = reader(4000, cut, 'comer');
    expect([room.take(comer, 4000), cut]).toEqual([false, []]);
    expect([room.take(comer, 6000), cut]).toEqual([true, ['first']]);
  });
});
