/** Wrong arguments are refused by a sentence, whichever call they are given to, and nothing is sent. */
import { describe, expect, test } from 'vitest';
import { toExpress } from '../adapters/express.ts';
import { toFastify } from '../adapters/fastify.ts';
import { toHono } from '../adapters/hono.ts';
import { toListener } from '../adapters/listener.ts';
import { toNext } from '../adapters/next.ts';
import { Carillon, type CarillonOptions } from '../carillon.ts';
import { Carillon as CarillonOnNode } from '../node/index.ts';
import { handler } from '../payload/handlers.ts';
import { BoundedPopMemory } from '../pop-memory.ts';
import { receiver } from '../receiver.ts';
import { a, scriptedClient, spec } from '../testing/scripted-client.ts';
import { json } from '../testing/stand-in.ts';

/** As in a program without types. */
// oxlint-disable-next-line typescript/no-explicit-any -- each call is given an argument that its type refuses
type Untyped = any;

async function refusal(call: (client: Untyped) => unknown): Promise<unknown> {
  const { client, seen } = scriptedClient(() => json({}));
  try {
    const result = call(client) as AsyncIterable<unknown> | Promise<unknown>;
    if ('then' in result) await result;
    else for await (const _ of result);
    return 'accepted';
  } catch (error) {
    expect(seen).toEqual([]);
    return error;
  }
}

const letters = (client: Untyped): Untyped => client.deadLetters;

describe('names of options that no call has', () => {
  test.each<[string, (client: Untyped) => unknown, string]>([
    ['list', (c) => c.list({ tags: 'a' }), 'A list has no tags; did you mean tag?'],
    ['count', (c) => c.count({ tags: 'a' }), 'A count has no tags; did you mean tag?'],
    [
      'set',
      (c) => c.set(spec, { idempotencykey: 'k' }),
      'A set has no idempotencykey; did you mean idempotencyKey?',
    ],
    ['setMany', (c) => c.setMany([spec], { idempotencykey: 'k' }), 'did you mean idempotencyKey?'],
    ['run', (c) => c.run('00-1', { idempotencykey: 'k' }), 'did you mean idempotencyKey?'],
    ['replace', (c) => c.replace('00-1', spec, { signl: 1 }), 'did you mean signal?'],
    ['cancel', (c) => c.cancel('00-1', { signl: 1 }), 'did you mean signal?'],
    ['cancelByTag', (c) => c.cancelByTag('a', { signl: 1 }), 'did you mean signal?'],
    ['get', (c) => c.get('00-1', { signl: 1 }), 'did you mean signal?'],
    ['attempts', (c) => c.attempts('00-1', { signl: 1 }), 'did you mean signal?'],
    ['cluster', (c) => c.cluster({ signl: 1 }), 'did you mean signal?'],
    ['drain', (c) => c.drain({ signl: 1 }), 'did you mean signal?'],
    ['preview', (c) => c.preview({ in: 1 }, { timeZone: 'UTC' }), 'did you mean timezone?'],
    ['preview of a slip', (c) => c.preview({ evry: 1, count: 2 }), 'did you mean every?'],
    ['history', (c) => c.history('00-1', { sinc: 0 }), 'did you mean since?'],
    ['audit', (c) => c.audit({ actr: 'x' }), 'did you mean actor?'],
    ['request', (c) => c.request({ method: 'GET', paht: '/' }), 'did you mean path?'],
    ['deadLetters.list', (c) => letters(c).list({ tags: 'a' }), 'did you mean tag?'],
    ['deadLetters.summary', (c) => letters(c).summary({ tags: 'a' }), 'did you mean tag?'],
    ['deadLetters.discardAll', (c) => letters(c).discardAll({ tags: 'a' }), 'did you mean tag?'],
    ['deadLetters.discard', (c) => letters(c).discard('1', { signl: 1 }), 'did you mean signal?'],
    ['deadLetters.redeliver', (c) => letters(c).redeliver('1', { signl: 1 }), 'signal?'],
  ])('%s: refused', async (_name, call, sentence) => {
    const error = await refusal(call);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toContain(sentence);
  });
});

describe('arguments of calls that are of another kind', () => {
  const idOfTimer = /^The id of a timer must be the text of one, not .+\.$/;
  const idOfLetter = /^The id of a dead letter must be the text of one, not .+\.$/;
  test.each<[string, (client: Untyped) => unknown, RegExp]>([
    ['cancel without an id', (c) => c.cancel(), idOfTimer],
    ['cancel of an empty id', (c) => c.cancel(''), idOfTimer],
    ['cancel of the path above', (c) => c.cancel('..'), idOfTimer],
    ['replace without an id', (c) => c.replace(undefined, spec), idOfTimer],
    ['replace of half a character', (c) => c.replace('\ud800', spec), idOfTimer],
    ['get of an empty id', (c) => c.get(''), idOfTimer],
    ['get of a number', (c) => c.get(7), idOfTimer],
    ['run without an id', (c) => c.run(), idOfTimer],
    ['attempts of a point', (c) => c.attempts('.'), idOfTimer],
    ['history without an id', (c) => c.history(), idOfTimer],
    ['discard without an id', (c) => letters(c).discard(), idOfLetter],
    ['discard of the path above', (c) => letters(c).discard('..'), idOfLetter],
    ['redeliver of an empty id', (c) => letters(c).redeliver(''), idOfLetter],
    ['set without a timer', (c) => c.set(), /^A timer needs an object .+, not undefined\.$/],
    ['set of null', (c) => c.set(null), /^A timer needs an object .+, not null\.$/],
    ['set of a text', (c) => c.set('10s'), /^A timer needs an object .+, not "10s"\.$/],
    ['set with null for options', (c) => c.set(spec, null), /^A set needs an object .+not null\.$/],
    ['setMany without timers', (c) => c.setMany(), /must be a list of timers, not undefined\.$/],
    ['setMany of one timer', (c) => c.setMany(spec), /must be a list of timers, not an object\.$/],
    ['setMany of null', (c) => c.setMany([null]), /^timers\[0\]: A timer needs .+, not null\.$/],
    [
      'the second timer of setMany',
      (c) => c.setMany([spec, { in: -1, uri: 'http://r/' }]),
      /^timers\[1\]: in must be milliseconds or a duration such as '10s', not -1\.$/,
    ],
    [
      'the data of the second timer of setMany',
      (c) => c.setMany([spec, { in: 1, uri: 'http://r/', name: 'n', data: () => {} }]),
      /^timers\[1\]: The data of "n" cannot be sent: /,
    ],
    ['preview without a time', (c) => c.preview(), /^A timer needs an object .+not undefined\.$/],
    ['cancelByTag without a tag', (c) => c.cancelByTag(), /^The tag must be a text,/],
    ['cancelByTag of no text', (c) => c.cancelByTag(''), /^The tag must be a text,/],
    ['request without a slash', (c) => c.request({ method: 'GET', path: 'x' }), /^path must be/],
    [
      'a signal that is none',
      (c) => c.set(spec, { signal: 'x' }),
      /^signal must be an AbortSignal/,
    ],
    ['a null signal', (c) => c.list({ signal: null }), /^signal must be an AbortSignal, not null/],
    ['a time that is none', (c) => c.list({ from: 'soon' }), /^from must be a Date/],
    ['a version that is none', async (c) => c.saw(), /^undefined is not a version\.$/],
    ['a schema', (c) => c.set({ ...spec, name: 'n', data: 1, schema: {} }), /^schema must be one/],
  ])('%s: refused', async (_name, call, sentence) => {
    const error = await refusal(call);
    expect(error).toBeInstanceOf(TypeError);
    expect((error as Error).message).toMatch(sentence);
  });
});

describe('texts that no header can carry', () => {
  const sentence = /must be a text of printable ASCII characters, without spaces or line ends/;

  test.each(['ключ', 'é', 'a\r\nb', 'a\n', ' a', '', 7])('the key %j', async (key) => {
    for (const call of [
      (c: Untyped) => c.set(spec, { idempotencyKey: key }),
      // The second one would leave as JSON, which has room for any text.
      (c: Untyped) => Promise.all([c.set(spec), c.set(spec, { idempotencyKey: key })]),
      (c: Untyped) => c.setMany([spec], { idempotencyKey: key }),
      (c: Untyped) => c.run('00-1', { idempotencyKey: key }),
    ]) {
      const { client } = scriptedClient(() => json({}));
      await expect(call(client)).rejects.toThrow(sentence);
    }
  });

  test.each(['s3cret\r\n', 'тайна', ''])('the token %j, which is not told', (token) => {
    const call = (): unknown => new Carillon({ members: [a], token });
    expect(call).toThrow(/^token must be [^3]+$/);
    expect(call).toThrow(sentence);
  });

  test('a namespace, and a header of a request', async () => {
    expect(() => new Carillon({ members: [a], namespace: 'a\n' })).toThrow(sentence);
    const headers = { 'x-a': 'a\r\nb' };
    const call = (c: Untyped): unknown => c.request({ method: 'GET', path: '/', headers });
    expect(await refusal(call)).toMatchObject({ message: expect.stringMatching(sentence) });
  });
});

describe.each([
  ['anywhere', Carillon],
  ['on Node', CarillonOnNode],
])('a client %s', (_where, Client) => {
  test.each<[unknown, string]>([
    [undefined, 'A client needs an object (of members, token,'],
    [{ members: [a], tokn: 'x' }, 'A client has no tokn; did you mean token?'],
    [{ members: a }, "members must be a list of URLs (['http://127.0.0.1:7253']), not \"http://"],
    [{}, 'members must be a list of URLs'],
    [{ members: [a], fetch: 7 }, 'fetch must be a function, not 7.'],
    [{ members: [a], timeout: Number.NaN }, 'timeout must be milliseconds or a duration'],
    [{ members: [a], avoid: 'soon' }, 'avoid must be milliseconds or a duration'],
    [{ members: [a], refresh: false }, 'refresh must be milliseconds or a duration'],
    [{ members: [a], coalesce: 'no' }, 'coalesce must be true or false, not "no".'],
    [{ members: [a], coalesce: null }, 'coalesce must be true or false, not null.'],
    [{ members: [a], system: null }, 'system must be one with the functions of ClientSystem, not'],
    [{ members: [a], system: {} }, 'system must be one with the functions of ClientSystem, not'],
    [{ members: [7] }, 'A member must be a URL such as http://127.0.0.1:7253, not "7".'],
  ])('of %j is refused: %s', (options, sentence) => {
    const call = (): unknown => new Client(options as CarillonOptions);
    expect(call).toThrow(TypeError);
    expect(call).toThrow(sentence);
  });
});

describe('a receiver', () => {
  const make: Untyped = receiver;
  const made: Untyped = handler;
  const handles = (): void => {};
  test.each<[string, () => unknown, string]>([
    ['nothing', () => make(), 'must be a function that handles pops, or an object with handlers,'],
    ['a secret misspelled', () => make(handles, { secrt: 's' }), 'did you mean secret?'],
    ['onEvent', () => make(handles, { onEvent: 7 }), 'onEvent must be a function, not 7.'],
    ['onError', () => make(handles, { onError: 'x' }), 'onError must be a function, not "x".'],
    ['bodyBytesMax', () => make(handles, { bodyBytesMax: '1k' }), 'must be a number from 1 on,'],
    ...[0, 1.5, 1e6, 1e9, Infinity, Number.NaN, '5', null].map(
      (count): [string, () => unknown, string] => [
        `batchCountMax ${count}`,
        () => make(handles, { batchCountMax: count }),
        'batchCountMax must be a whole number from 1 to 999999, not ',
      ],
    ),
    ...[0, 1.5, Infinity, Number.NaN].map((count): [string, () => unknown, string] => [
      `a memory of ${count} keys`,
      () => new BoundedPopMemory(count),
      `keyCountMax must be a whole number from 1 on, not ${count}.`,
    ]),
    [
      'a memory that is none',
      () => make(handles, { memory: {} }),
      'memory must be one with begin, handled and failed, not an object.',
    ],
    ['handlers misspelled', () => make({ handler: {} }), 'handlers must be an object of handlers'],
    ['handlers and a slip', () => make({ handlers: {}, secrt: 's' }), 'did you mean secret?'],
    ['a number', () => make({ handlers: { a: 7 } }), 'The handler of "a" must be the result of'],
    ['a function', () => make({ handlers: { a: handles } }), 'handler(…), not a function.'],
    ['handler of nothing', () => made(), 'The last argument of handler must be a function'],
    ['handler of a schema', () => made({}, handles), 'schema must be one that knows Standard'],
    ['toExpress', () => toExpress(undefined as Untyped), 'The argument of toExpress must be'],
    ['toFastify', () => toFastify(7 as Untyped, '/'), 'The argument of toFastify must be'],
    ['toHono', () => toHono({} as Untyped), 'The argument of toHono must be the result of'],
    ['toListener', () => toListener(null as Untyped), 'The argument of toListener must be'],
    ['toNext', () => toNext('x' as Untyped), 'The argument of toNext must be the result of'],
  ])('%s: refused', (_name, call, sentence) => {
    expect(call).toThrow(TypeError);
    expect(call).toThrow(sentence);
  });
});
