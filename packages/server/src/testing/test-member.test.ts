/** The behaviour of a test member that unit tests of users may rely on. */
import { afterEach, describe, expect, test } from 'vitest';
import { startTestMember, type TestMember, type TestMemberOptions } from './test-member.ts';

const started: TestMember[] = [];
afterEach(async () => {
  await Promise.all(started.splice(0).map((member) => member.stop()));
});

async function start(options: TestMemberOptions = {}): Promise<TestMember> {
  const member = await startTestMember(options);
  started.push(member);
  return member;
}

function set(member: TestMember, timing: object, uri = 'http://shop.test/hook?x=1') {
  const callback = { http: { uri, opaque: 'order 17' } };
  return member.fetch(`${member.url}/timers`, {
    method: 'POST',
    body: JSON.stringify({ timing, callback }),
  });
}

describe('a member in the process of a test', () => {
  test('pops inside advance, neither before nor after its time', async () => {
    const pops: string[] = [];
    const member = await start({
      receivers: {
        'http://shop.test': async (request) => {
          const { pathname, search } = new URL(request.url);
          pops.push(`${request.method} ${pathname}${search} ${await request.text()}`);
          return new Response();
        },
      },
    });
    expect((await set(member, { interval: 600 })).status).toBe(200);
    await member.clock.advance('9m59s');
    expect(pops).toEqual([]);
    await member.clock.advance('1s');
    expect(pops).toEqual(['POST /hook?x=1 order 17']);
    await member.clock.advance('1h');
    expect(pops).toHaveLength(1);
  });

  test('the clock starts where it is told to, and requests take no time', async () => {
    const now = new Date('2030-06-01T12:00:00Z');
    const member = await start({ now });
    const answer = await set(member, { at: '2030-06-01T12:00:30Z' });
    const read = await member.fetch(`${member.url}${answer.headers.get('location')}`);
    expect(await read.json()).toMatchObject({ 'next-due': '2030-06-01T12:00:30.000Z' });
    expect(member.clock.now).toEqual(now);
    await member.clock.advance(1500);
    expect(member.clock.now).toEqual(new Date('2030-06-01T12:00:01.500Z'));
  });

  test('a receiver that fails or throws is tried again; one that is not there too', async () => {
    const answers = [() => new Response(null, { status: 503 }), () => Promise.reject(new Error())];
    const attempts: (string | null)[] = [];
    const member = await start({
      receivers: {
        'http://shop.test': (request) => {
          attempts.push(request.headers.get('x-timer-attempt'));
          return answers.shift()?.() ?? new Response();
        },
      },
    });
    await set(member, { interval: 1 });
    const lost = await set(member, { interval: 1 }, 'http://nobody.test/');
    await member.clock.advance('1m');
    expect(attempts).toEqual(['1', '2', '3']);
    const read = await member.fetch(`${member.url}${lost.headers.get('location')}`);
    expect(await read.json()).toMatchObject({ state: 'retrying', 'last-outcome': 'refused' });
  });

  test('advance waits for receivers that take their time, also for the last one', async () => {
    let handled = 0;
    const member = await start({
      receivers: {
        'http://shop.test': async () => {
          await new Promise((resolve) => {
            setTimeout(resolve, 20);
          });
          handled++;
          return new Response();
        },
      },
    });
    await set(member, { interval: 60, count: 3 });
    await member.clock.advance('2m');
    expect(handled).toBe(2);
    await member.clock.advance('1m');
    expect(handled).toBe(3);
  });

  test('a receiver may set the next timer from inside', async () => {
    const times: string[] = [];
    const member: TestMember = await start({
      receivers: {
        'http://shop.test': async () => {
          times.push(member.clock.now.toISOString().slice(11, 19));
          if (times.length < 3) await set(member, { interval: 60 });
          return new Response();
        },
      },
    });
    await set(member, { interval: 60 });
    await member.clock.advance('10m');
    expect(times).toEqual(['00:01:00', '00:02:00', '00:03:00']);
  });

  test('advances that overlap take place one after the other', async () => {
    const member = await start();
    const { clock } = member;
    const begun = clock.now.getTime();
    const passedMs = (): number => clock.now.getTime() - begun;
    const first = clock.advance('30s').then(passedMs);
    const refused = clock.advance('soon').catch((error: unknown) => String(error));
    const others = [clock.advance('30s').then(passedMs), clock.advance(500).then(passedMs)];
    expect(await Promise.all([first, ...others])).toEqual([30_000, 60_000, 60_500]);
    expect(await refused).toContain('not "soon"');
    expect(passedMs()).toBe(60_500);
  });

  test('advance inside a receiver is refused there and in the test, and works again behind it', async () => {
    const refusals: string[] = [];
    const { promise: popped, resolve } = Promise.withResolvers<void>();
    const member: TestMember = await start({
      receivers: {
        'http://shop.test': async () => {
          await member.clock.advance('1s').catch((error: unknown) => refusals.push(String(error)));
          // Work that the receiver leaves behind may advance when the receiver has answered.
          setTimeout(() => void member.clock.advance('1s').then(resolve), 5);
          return new Response();
        },
      },
    });
    await set(member, { interval: 60 });
    const sentence = 'A receiver cannot call advance: time stands still while it works.';
    await expect(member.clock.advance('1m')).rejects.toThrow(sentence);
    await popped;
    expect(refusals).toEqual([expect.stringContaining(sentence)]);
    expect(member.clock.now).toEqual(new Date('2026-01-01T00:01:01Z'));
  });

  test('of two receivers at one origin, the longest address that fits takes a callback', async () => {
    const pops: string[] = [];
    const noting = (name: string) => async (request: Request) => {
      pops.push(`${name}: ${new URL(request.url).pathname}`);
      return new Response();
    };
    const receivers = {
      'http://shop.test': noting('all'),
      'http://shop.test/orders': noting('orders'),
    };
    const member = await start({ receivers });
    await set(member, { interval: 1 }, 'http://shop.test/hook');
    await set(member, { interval: 2 }, 'http://shop.test/orders/17');
    await member.clock.advance('3s');
    expect(pops).toEqual(['all: /hook', 'orders: /orders/17']);
  });

  test.each<[object | null, string]>([
    [{ receiver: {} }, 'A test member has no receiver; did you mean receivers?'],
    [{ receivers: { 'shop.test': () => new Response() } }, 'not "shop.test".'],
    [{ receivers: { 'http://shop.test': 7 } }, 'must be a function from Request to Response'],
    [{ now: '2026-01-01' }, 'now must be a valid Date, not "2026-01-01".'],
    [{ now: new Date('soon') }, 'now must be a valid Date, not an object.'],
    [null, 'A test member needs an object (of receivers, now), not null.'],
  ])('options %j are refused: %s', async (options, sentence) => {
    await expect(start(options as TestMemberOptions)).rejects.toThrow(sentence);
  });

  test.each([[undefined], [null], [Number.NaN], [Infinity], [-1], [[]]])(
    'advance by %s is refused',
    async (duration) => {
      const member = await start();
      const advanced = member.clock.advance(duration as unknown as number);
      await expect(advanced).rejects.toThrow(
        /^Advance by milliseconds or a text such as '10m', not/,
      );
    },
  );

  test('a duration that is none is refused', async () => {
    const member = await start();
    await expect(async () => member.clock.advance('soon')).rejects.toThrow(/such as '10m'/);
  });
});
