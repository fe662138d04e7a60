/** How much of a request is done between two turns of the event loop: counted, not timed. */
import { VirtualClock } from '@carillon/core/testing';
import { describe, expect, test, vi } from 'vitest';
import { longRequests } from './long-requests.contract.ts';
import { LongWork, type Steps, stintCostMax } from './long-work.ts';
import { testApi } from './stand-in.contract.ts';

/** Less than the most: the same is done between two turns, in fewer of them. */
const smaller = longRequests({ batchBytes: 1024 * 1024, itemCount: 250 });

interface Turn {
  readonly parses: number;
  readonly bytes: number;
  readonly sets: number;
}

/** The work done in each turn of the event loop until the answer. */
async function turnsOf(ask: (api: ReturnType<typeof testApi>) => unknown): Promise<Turn[]> {
  const api = testApi();
  const turns: Turn[] = [];
  let parses = 0;
  let bytes = 0;
  let sets = 0;
  const turn = (): void => {
    turns.push({ parses, bytes, sets });
    [parses, bytes, sets] = [0, 0, 0];
  };
  const { parse } = JSON;
  vi.spyOn(JSON, 'parse').mockImplementation((text: string) => {
    parses++;
    bytes += text.length;
    return parse(text) as unknown;
  });
  const setMany = api.service.setMany.bind(api.service);
  vi.spyOn(api.service, 'setMany').mockImplementation((requests) => {
    sets += requests.length;
    return setMany(requests);
  });
  const cancel = api.service.cancel.bind(api.service);
  vi.spyOn(api.service, 'cancel').mockImplementation((namespace, id) => {
    sets++;
    return cancel(namespace, id);
  });
  const soon = api.clock.soon.bind(api.clock);
  vi.spyOn(api.clock, 'soon').mockImplementation((fn) => {
    soon(() => {
      turn();
      fn();
    });
  });
  await ask(api);
  turn();
  vi.restoreAllMocks();
  expect(api.bugs).toEqual([]);
  return turns;
}

describe('a request within the limits', () => {
  test.each(smaller)('$name: little is done between two turns', async ({ request }) => {
    const turns = await turnsOf(({ router }) => router.handle(request()));
    expect(Math.max(...turns.map(({ parses }) => parses))).toBeLessThanOrEqual(100);
    expect(Math.max(...turns.map(({ bytes }) => bytes))).toBeLessThanOrEqual(512 * 1024);
    // About a millisecond of the event loop.
    expect(Math.max(...turns.map(({ sets }) => sets))).toBeLessThanOrEqual(200);
  });

  test('crons that never come: one of them between two turns', async () => {
    const crons = smaller.filter(({ name }) => name.includes('crons'));
    expect(crons).toHaveLength(2);
    for (const { request } of crons) {
      const turns = await turnsOf(({ router }) => router.handle(request()));
      expect(Math.max(...turns.map(({ parses }) => parses))).toBe(1);
    }
  });
});

describe('long work', () => {
  function* steps(count: number, cost: number, log: string[] = []): Steps<string> {
    for (let i = 0; i < count; i++) {
      log.push(String(i));
      yield cost;
    }
    return 'done';
  }

  test('work that fits into a stint is done at once', () => {
    expect(new LongWork(new VirtualClock()).run(steps(9, stintCostMax / 10))).toBe('done');
  });

  test('a turn has one stint, of any request', async () => {
    const clock = new VirtualClock();
    const work = new LongWork(clock);
    const log: string[] = [];
    const both = ['a', 'b'].map(() => work.run(steps(3, stintCostMax, log)));
    expect(log.splice(0)).toEqual(['0', '0']);
    clock.step();
    expect(log.splice(0)).toEqual(['1']);
    clock.step();
    expect(log.splice(0)).toEqual(['1']);
    while (clock.step());
    expect(await Promise.all(both.map(async (one) => await one))).toEqual(['done', 'done']);
  });

  test('an error thrown by a step comes out, at once or later', async () => {
    function* failing(cost: number): Steps<never> {
      yield cost;
      throw new Error('broken');
    }
    const clock = new VirtualClock();
    const work = new LongWork(clock);
    expect(() => work.run(failing(0))).toThrow('broken');
    const later = work.run(failing(stintCostMax));
    clock.step();
    await expect(later).rejects.toThrow('broken');
  });
});
