import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { BoundedPopMemory } from './pop-memory.ts';
import type { Pop } from './pop.ts';
import { receiver, type ReceiverOptions } from './receiver.ts';
import { FakeSystem } from './testing/stand-in.ts';

const url = 'http://receiver/callback';

interface Callback {
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

function callback({ headers = {}, body = 'text' }: Callback = {}): Request {
  const all = {
    'x-timer-id': '00000000000000ff0123456789abcdef-2',
    'x-sequence-number': '3',
    'x-timer-attempt': '2',
    'x-timer-due': '2026-01-01T00:00:01.000Z',
    ...headers,
  };
  return new Request(url, { method: 'POST', headers: all, body });
}

function make(options: ReceiverOptions = {}, handler?: (pop: Pop) => Promise<void>) {
  const pops: Pop[] = [];
  const receive = receiver(async (pop) => {
    pops.push(pop);
    await handler?.(pop);
  }, options);
  const status = async (request: Request): Promise<number> => (await receive(request)).status;
  return { pops, status, receive };
}

describe('receiver', () => {
  test('hands over the pop with everything its headers say', async () => {
    const { pops, status } = make();
    expect(await status(callback({ headers: { 'x-timer-missed': '4' }, body: 'grüß' }))).toBe(200);
    expect(pops[0]).toMatchObject({
      id: '00000000000000ff0123456789abcdef-2',
      sequence: 3,
      attempt: 2,
      missed: 4,
      due: new Date('2026-01-01T00:00:01.000Z'),
      opaque: 'grüß',
    });
  });

  test('the key of a pop is the same when the timer has moved, and another one after a replace', async () => {
    const { pops, status } = make();
    const moved = { 'x-timer-id': '00000000000000ffffffffffffffffff-2' };
    for (const headers of [
      { 'x-timer-version': '7.0' },
      { 'x-timer-version': '8.0' },
      { 'x-timer-version': '8.0', ...moved, 'x-sequence-number': '4' },
    ])
      expect(await status(callback({ headers }))).toBe(200);
    // A duplicate from the member that the timer has moved to.
    expect(await status(callback({ headers: { 'x-timer-version': '8.0', ...moved } }))).toBe(200);
    const keys = ['00000000000000ff_7_0_3', '00000000000000ff_8_0_3', '00000000000000ff_8_0_4'];
    expect(pops.map(({ key }) => key)).toEqual(keys);
  });

  test('a request without a timer id is refused', async () => {
    const { pops, status } = make();
    expect(await status(new Request(url, { method: 'POST', body: 'x' }))).toBe(400);
    expect(pops).toEqual([]);
  });

  test('a second callback of the same pop is answered with 200 and not handled again', async () => {
    const { pops, status } = make();
    const headers = { 'webhook-id': 'one' };
    expect(await status(callback({ headers }))).toBe(200);
    expect(await status(callback({ headers: { ...headers, 'x-timer-attempt': '9' } }))).toBe(200);
    expect(pops).toHaveLength(1);
  });

  test.each([
    ['another sequence', { 'x-sequence-number': '4' }],
    ['another due time, as after a replace', { 'x-timer-due': '2026-01-01T00:00:09.000Z' }],
    ['another version', { 'x-timer-version': '7' }],
    ['another timer', { 'x-timer-id': '00000000000000fe0123456789abcdef-2' }],
  ])('%s is another pop', async (_what, headers) => {
    const { pops, status } = make();
    await status(callback());
    expect(await status(callback({ headers }))).toBe(200);
    expect(pops).toHaveLength(2);
  });

  test('the same timer under a refreshed id is the same pop', async () => {
    const { pops, status } = make();
    await status(callback());
    await status(callback({ headers: { 'x-timer-id': '00000000000000ffffffffffffffffff-2' } }));
    expect(pops).toHaveLength(1);
  });

  test('a pop whose handling failed is handled again when it comes again', async () => {
    const errors: unknown[] = [];
    let bad = true;
    const { pops, status } = make({ onError: (error) => errors.push(error) }, () =>
      bad ? Promise.reject(new Error('database away')) : Promise.resolve(),
    );
    expect(await status(callback())).toBe(500);
    bad = false;
    expect(await status(callback())).toBe(200);
    expect(pops).toHaveLength(2);
    expect(errors).toEqual([new Error('database away')]);
  });

  test('while a pop is being handled, a second callback of it is put off', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { pops, status } = make({}, () => promise);
    const first = status(callback());
    await expect.poll(() => pops.length).toBe(1);
    expect(await status(callback())).toBe(503);
    resolve();
    expect(await first).toBe(200);
    expect(await status(callback())).toBe(200);
    expect(pops).toHaveLength(1);
  });

  test('a memory of one’s own may be asynchronous, and its failure is a 500', async () => {
    const memory = new BoundedPopMemory();
    const remote = {
      begin: (key: string) => Promise.resolve(memory.begin(key)),
      handled: (key: string) => Promise.resolve(memory.handled(key)),
      failed: (key: string) => Promise.resolve(memory.failed(key)),
    };
    const { pops, status } = make({ memory: remote });
    await status(callback());
    expect(await status(callback())).toBe(200);
    expect(pops).toHaveLength(1);
    const broken = make({ memory: { ...remote, begin: () => Promise.reject(new Error('away')) } });
    expect(await broken.status(callback())).toBe(500);
  });

  test('a body over the limit is refused', async () => {
    const { pops, status } = make({ bodyBytesMax: 3 });
    expect(await status(callback({ body: 'four' }))).toBe(413);
    expect(await status(callback({ body: 'six' }))).toBe(200);
    expect(pops).toHaveLength(1);
  });
});

describe('receiver of a batch', () => {
  const line = (opaque: string, sequence = 1) => ({
    id: '00000000000000ff0123456789abcdef-2',
    sequence,
    due: '2026-01-01T00:00:01.000Z',
    version: '7.0',
    attempt: 1,
    opaque,
  });
  const batch = (lines: readonly unknown[]): Request =>
    new Request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'x-timer-count': String(lines.length) },
      body: lines.map((one) => `${JSON.stringify(one)}\n`).join(''),
    });

  test('hands over each pop as if it had come alone', async () => {
    const { pops, status } = make();
    expect(await status(batch([line('grüß'), { ...line('b', 2), missed: 3 }]))).toBe(200);
    expect(pops).toMatchObject([
      { opaque: 'grüß', sequence: 1, missed: 0, due: new Date('2026-01-01T00:00:01.000Z') },
      { opaque: 'b', sequence: 2, missed: 3 },
    ]);
  });

  test('an answer says which pops failed, and every answer how many may come together', async () => {
    const { receive } = make({}, ({ opaque }) =>
      opaque === 'a' ? Promise.resolve() : Promise.reject(new Error('away')),
    );
    const answer = await receive(batch([line('b', 1), line('a', 2), line('c', 3)]));
    expect([answer.status, answer.headers.get('x-timer-failed')]).toEqual([500, '0,2']);
    const good = await receive(batch([line('a', 4), line('a', 5)]));
    expect([good.status, good.headers.get('x-timer-failed')]).toEqual([200, null]);
    const others = [callback(), batch([])];
    for (const request of others)
      expect((await receive(request)).headers.get('x-timer-batch')).toBe('500');
    const few = make({ batchCountMax: 20 });
    expect((await few.receive(callback())).headers.get('x-timer-batch')).toBe('20');
  });

  test('a pop that came together with others and comes again by itself, signed, is dropped', async () => {
    const { pops, status } = make();
    expect(await status(batch([line('a'), line('b', 2)]))).toBe(200);
    const again = { 'x-sequence-number': '2', 'webhook-id': '00000000000000ff_7_0_2' };
    expect(await status(callback({ headers: again }))).toBe(200);
    expect(pops.map(({ opaque }) => opaque)).toEqual(['a', 'b']);
  });

  test('of a pop that stands twice in a batch, a handler without a promise sees one', async () => {
    const opaques: string[] = [];
    const receive = receiver(({ opaque }) => void opaques.push(opaque));
    const answer = await receive(batch([line('a'), line('a'), line('b', 2)]));
    expect([answer.status, answer.headers.get('x-timer-failed')]).toEqual([200, null]);
    expect(opaques).toEqual(['a', 'b']);
  });

  test('when one pop fails all come again, and only that one is handled again', async () => {
    let bad = true;
    const { pops, status } = make({}, ({ opaque }) =>
      bad && opaque === 'b' ? Promise.reject(new Error('away')) : Promise.resolve(),
    );
    const lines = [line('a'), line('b', 2), line('c', 3)];
    expect(await status(batch(lines))).toBe(500);
    bad = false;
    expect(await status(batch(lines))).toBe(200);
    expect(pops.map(({ opaque }) => opaque)).toEqual(['a', 'b', 'c', 'b']);
  });

  test.each([
    ['nothing', []],
    ['a line that is no object', [line('a'), 7]],
    ['a line without an id', [{ ...line('a'), id: undefined }]],
  ])('a batch of %s is refused', async (_what, lines) => {
    const { pops, status } = make();
    expect(await status(batch(lines))).toBe(400);
    expect(pops).toEqual([]);
  });
});

describe('BoundedPopMemory', () => {
  test('forgets the oldest beyond its limit, and never a pop that is being handled', () => {
    const memory = new BoundedPopMemory(2);
    expect(memory.begin('busy')).toBe('fresh');
    for (const key of ['1', '2', '3']) {
      memory.begin(key);
      memory.handled(key);
    }
    expect(['1', '2', '3', 'busy'].map((key) => memory.begin(key))).toEqual([
      'fresh',
      'handled',
      'handled',
      'busy',
    ]);
  });
});

describe('receiver with a secret', () => {
  const secretBytes = Buffer.alloc(32, 7);
  const secret = `whsec_${secretBytes.toString('base64')}`;
  const other = `whsec_${Buffer.alloc(32, 8).toString('base64')}`;
  const system = new FakeSystem();
  const seconds = Math.floor(system.wall() / 1000);

  /** Signed the way Standard Webhooks says, with node:crypto rather than the code under test. */
  function signed(change: Record<string, string> = {}, atSeconds = seconds): Request {
    const body = 'text';
    const signature = createHmac('sha256', secretBytes)
      .update(`id_1.${atSeconds}.${body}`)
      .digest('base64');
    const headers = {
      'webhook-id': 'id_1',
      'webhook-timestamp': String(atSeconds),
      'webhook-signature': `v1,${signature}`,
    };
    const { body: sent = body, ...changed } = change;
    return callback({ headers: { ...headers, ...changed }, body: sent });
  }

  test.each([
    ['the secret', secret],
    ['the old or the new secret', [other, secret]],
    ['the secret without its prefix', secret.slice(6)],
  ])('takes a request that is signed with %s', async (_which, known) => {
    const { status } = make({ secret: known, system });
    expect(await status(signed())).toBe(200);
  });

  test('takes a genuine signature among others', async () => {
    const { status } = make({ secret, system });
    const genuine = signed().headers.get('webhook-signature') ?? '';
    const header = `v1a,xyz v1,AAAA v1,!!! ${genuine}`;
    expect(await status(signed({ 'webhook-signature': header }))).toBe(200);
  });

  test.each([
    ['another body', signed({ body: 'tex7' })],
    ['another id', signed({ 'webhook-id': 'id_2' })],
    ['another time', signed({ 'webhook-timestamp': String(seconds + 1) })],
    ['a signature of nothing', signed({ 'webhook-signature': 'v1,' })],
    ['a signature of another version', signed({ 'webhook-signature': 'v2,AAAA' })],
    ['a time that is no number', signed({ 'webhook-timestamp': 'now' })],
    ['no signature at all', callback()],
    ['a time too long ago', signed({}, seconds - 301)],
    ['a time too far ahead', signed({}, seconds + 302)],
  ])('refuses %s', async (_what, request) => {
    const { pops, status } = make({ secret, system });
    expect(await status(request)).toBe(401);
    expect(pops).toEqual([]);
  });

  test('refuses a callback that was signed with another secret', async () => {
    const { status } = make({ secret: other, system });
    expect(await status(signed())).toBe(401);
  });

  test('a secret that is none is refused at once, without repeating it', () => {
    for (const bad of ['', 'whsec_', 'whsec_short', 'whsec_***']) {
      expect(() => receiver(() => {}, { secret: bad })).toThrow('Secret 1 is not usable');
    }
  });
});
