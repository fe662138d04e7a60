/** One namespace does its worst; timers of others are accepted, pop in time, and do not fail. */
import { describe, expect, it } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import { header, type OneMember, startOne } from '../testing/one-member.ts';

const refused = { kind: 'no-answer', reason: 'refused', detail: 'The port is closed.' } as const;
const good = 'http://good.test/';
/** Of a callback of a member that has nothing else to do, in virtual time. */
const usualMs = 5;

function as(namespace: string) {
  return { 'carillon-namespace': namespace };
}

function timer(timing: object, uri: string, more: object = {}) {
  const { retry, ...http } = more as { retry?: object };
  return { timing, callback: { http: { uri, opaque: 'x', ...http }, ...(retry && { retry }) } };
}

/** Attacks of one namespace, each second. */
const seconds = 20;
const worst: Record<string, (one: OneMember, second: number) => Promise<unknown>> = {
  'recurring timers to a closed port, without retries': async ({ request }, second) => {
    if (second > 0) return;
    const timing = { interval: 0.1, forever: true };
    const item = timer(timing, 'http://closed.test/', { retry: { 'max-attempts': 1 } });
    await request('POST', '/timers/batch', Array(300).fill(item), as('bad'));
  },
  'recurring timers to a receiver that says 410': async ({ request }, second) => {
    if (second > 0) return;
    const item = timer({ interval: 0.1, forever: true }, 'http://gone.test/');
    await request('POST', '/timers/batch', Array(300).fill(item), as('bad'));
  },
  'time limits of a millisecond for the receiver of others': ({ request }) =>
    request(
      'POST',
      '/timers/batch',
      Array(50).fill(timer({ interval: 0.1 }, good, { timeout: 0.001 })),
      as('bad'),
    ),
  'silent receivers at 70 ports': ({ request }, second) => {
    const items = Array.from({ length: 70 }, (_, i) =>
      timer({ interval: 0.1 }, `http://silent.test:${1000 + i}/`, { timeout: 120 }),
    );
    return second < 8 ? request('POST', '/timers/batch', items, as('bad')) : Promise.resolve();
  },
  'as many timers as it can set': ({ request }) => {
    const item = timer({ interval: 3600 }, good);
    return request('POST', '/timers/batch', Array(500).fill(item), as('bad'));
  },
  'timers that it sets and cancels without end': async ({ request }) => {
    const item = timer({ interval: 3600 }, good);
    const set = await request('POST', '/timers/batch', Array(500).fill(item), as('bad'));
    const ids = (JSON.parse(set.body) as { id?: string }[]).flatMap(({ id }) => id ?? []);
    if (ids.length === 0) return;
    const changes = ids.map((id) => ({ change: 'cancel', id }));
    await request('POST', '/timers/batch', changes, as('bad'));
  },
  'cancels of timers that never were': ({ request }, second) => {
    const changes = Array.from({ length: 500 }, (_, i) => ({
      change: 'cancel',
      id: `${(second * 500 + i + 1).toString(16).padStart(16, '0')}-1`,
    }));
    return request('POST', '/timers/batch', changes, as('bad'));
  },
};

/** Small, so that the namespace comes to its limits within these seconds. */
const limits = { ...defaultConfig.limits, pendingTimerCountMax: 3000, deadLetterCountMax: 400 };

async function rig() {
  const one = await startOne({ config: { limits } });
  one.receivers.script = ({ uri, limitMs }) => {
    if (uri.startsWith('http://closed')) return refused;
    if (uri.startsWith('http://gone')) return 410;
    if (uri.startsWith('http://silent') || limitMs === 1) return 'hang';
    return { afterMs: usualMs, answer: 200 };
  };
  return one;
}

describe.each(Object.entries(worst))('one namespace with %s', (_, act) => {
  it('sets of another are accepted, its pops come in time, and none fails', async () => {
    const one = await rig();
    let set = 0;
    for (let second = 0; second < seconds; second++) {
      await act(one, second);
      for (let i = 0; i < 5; i++) {
        const timing = i === 0 ? { interval: 0.2, count: 2 } : { interval: 0.5 };
        const answer = await one.request('POST', '/timers', timer(timing, good), as('good'));
        expect(answer.status).toBe(200);
        set += i === 0 ? 2 : 1;
      }
      await one.clock.advance(1000);
    }
    const pops = one.receivers.calls.filter(({ request }) => request.namespace === 'good');
    expect(pops).toHaveLength(set);
    const late = pops
      .map(({ request, startMs }) => {
        const dueWallMs = Date.parse(request.headers['x-timer-due'] ?? '');
        return startMs - (dueWallMs - one.clock.wall() + one.clock.now());
      })
      .toSorted((a, b) => a - b);
    for (const { result, request } of pops) {
      expect(request.headers['x-timer-attempt']).toBe('1');
      expect(result).toMatchObject({ status: 200 });
    }
    expect(late[Math.floor(late.length * 0.99)]).toBeLessThanOrEqual(2 * usualMs);
    expect(one.member.store.counts.dead).toBeLessThanOrEqual(limits.deadLetterCountMax / 2);
    expect(one.member.store.size).toBeLessThan(1.1 * limits.pendingTimerCountMax);
    await one.stop();
  });
});

describe('a member with as many records as it may', () => {
  const few = { ...limits, pendingTimerCountMax: 20 };
  const set = ({ request }: OneMember, namespace: string) =>
    request('POST', '/timers', timer({ interval: 60 }, good), as(namespace));
  const cancel = ({ request }: OneMember, namespace: string, id: string) =>
    request('DELETE', `/timers/${id}`, undefined, as(namespace));
  const unknown = '00000000000004d2-1';

  async function full() {
    const one = await startOne({ config: { limits: few } });
    let last = '';
    while (one.member.store.size < 20) {
      await cancel(one, 'bad', last || unknown);
      last =
        header(await set(one, 'bad'), 'location')
          ?.split('/')
          .at(-1) ?? '';
    }
    return { one, last };
  }

  it('refuses sets and cancels of unknown timers of the namespace that has them, not its cancels of known ones', async () => {
    const { one, last } = await full();
    const no = await set(one, 'bad');
    expect([no.status, header(no, 'retry-after')]).toEqual([429, '1']);
    expect(JSON.parse(no.body).detail).toContain('20 of them are of the namespace "bad"');
    expect((await cancel(one, 'bad', '00000000000004d3-1')).status).toBe(429);
    expect((await cancel(one, 'bad', last)).status).toBe(200);
    expect(one.member.store.size).toBe(20);
  });

  it('takes places of others, up to the equal part of each', async () => {
    const { one } = await full();
    const statuses = [];
    for (let i = 0; i < 12; i++) statuses.push((await set(one, 'good')).status);
    expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
    expect((await cancel(one, 'third', unknown)).status).toBe(200);
  });

  it('takes timers of all again when the ended ones are forgotten', async () => {
    const { one } = await full();
    await one.clock.advance(2 * 3_600_000);
    expect((await set(one, 'bad')).status).toBe(200);
  });
});

describe('ended timers under idempotency keys', () => {
  it('keep 33 bytes of a large timer, and its repeated request is answered as before', async () => {
    const one = await startOne();
    const body = timer({ interval: 1 }, good, { opaque: 'x'.repeat(60_000) });
    const keyed = { ...as('good'), 'idempotency-key': 'k', accept: 'application/json' };
    const set = (asked: object) => one.request('POST', '/timers', asked, keyed);
    const first = JSON.parse((await set(body)).body);
    await one.clock.advance(2000);
    expect(one.member.store.records()()?.body).toHaveLength(33);
    const again = await set(body);
    expect([again.status, JSON.parse(again.body)]).toMatchObject([
      200,
      { id: first.id, state: 'ended', callback: body.callback },
    ]);
    expect((await set(timer({ interval: 2 }, good))).status).toBe(422);
  });
});

describe('a full letter box', () => {
  async function withFullBox() {
    const one = await rig();
    const item = timer({ interval: 1, forever: true }, 'http://gone.test/');
    await one.request('POST', '/timers/batch', Array(20).fill(item), as('bad'));
    await one.clock.advance(60_000);
    return one;
  }
  const recurring = timer({ interval: 5, forever: true }, good);
  const single = timer({ interval: 5 }, good);

  it('takes no more: pops stay due and are tried again, later ones merge into them, and none is lost', async () => {
    const one = await withFullBox();
    expect(one.member.store.counts.dead).toBe(200);
    const before = one.receivers.calls.length;
    one.receivers.script = () => 200;
    await one.clock.advance(400_000);
    const letters = await pages(one);
    const calls = one.receivers.calls.slice(before).map(({ request: { headers } }) => ({
      timer: headers['x-timer-id']?.slice(0, 16),
      sequence: Number(headers['x-sequence-number']),
      missed: Number(headers['x-timer-missed'] ?? 0),
    }));
    for (const id of new Set(calls.map((call) => call.timer))) {
      const of = [...letters, ...calls].filter((end) => end.timer === id);
      const covered = of.flatMap(({ sequence, missed }) =>
        Array.from({ length: missed + 1 }, (_, i) => sequence - i),
      );
      const sorted = covered.toSorted((a, b) => a - b);
      expect(sorted).toEqual(sorted.map((_, i) => i + 1));
      expect(sorted.length).toBeGreaterThan(400);
    }
    expect(new Set(calls.map((call) => call.timer)).size).toBe(20);
  });

  it('refuses recurring timers of its namespace with Retry-After until there is room, and nothing else', async () => {
    const one = await withFullBox();
    const set = (body: object, namespace: string) =>
      one.request('POST', '/timers', body, as(namespace));
    const no = await set(recurring, 'bad');
    expect([no.status, header(no, 'retry-after')]).toEqual([429, '1']);
    expect((await set(single, 'bad')).status).toBe(200);
    expect((await set(recurring, 'good')).status).toBe(200);
    await one.request('DELETE', '/timers?tag=none', undefined, as('bad'));
    one.receivers.script = () => 200;
    const gone = await one.request('DELETE', '/dead-letters?all=true', undefined, as('bad'));
    expect(JSON.parse(gone.body)).toEqual({ discarded: 200, more: false });
    expect((await set(recurring, 'bad')).status).toBe(200);
  });
});

interface End {
  readonly timer: string | undefined;
  readonly sequence: number;
  readonly missed: number;
}

async function pages({ request }: OneMember): Promise<End[]> {
  const ends: End[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/dead-letters?limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const page = JSON.parse((await request('GET', path, undefined, as('bad'))).body);
    for (const { timer: id, sequence, missed } of page['dead-letters']) {
      ends.push({ timer: id.slice(0, 16), sequence, missed });
    }
    ({ cursor } = page);
  }
  return ends;
}

describe('quotas', () => {
  const namespaces = {
    bad: { timerCountMax: 3, ratePerSecond: 10 },
    fat: { bytesMax: 1000 },
  };

  it('over its timers or bytes only that namespace is refused, with Retry-After', async () => {
    const one = await startOne({ config: { namespaces } });
    const set = (namespace: string, opaque = '') =>
      one.request('POST', '/timers', timer({ interval: 60 }, good, { opaque }), as(namespace));
    const statuses = [];
    for (let i = 0; i < 5; i++) statuses.push((await set('bad')).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect((await set('fat', 'x'.repeat(1000))).status).toBe(200);
    const refusal = await set('fat');
    expect([refusal.status, header(refusal, 'retry-after')]).toEqual([429, '1']);
    expect((await set('good')).status).toBe(200);
  });

  it('over its rate only that namespace is refused, timers of a batch counted', async () => {
    const one = await startOne({ config: { namespaces } });
    const ping = (namespace: string) => one.request('GET', '/timers', undefined, as(namespace));
    const statuses = [];
    for (let i = 0; i < 12; i++) statuses.push((await ping('bad')).status);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect((await ping('good')).status).toBe(200);
    await one.clock.advance(1000);
    expect((await ping('bad')).status).toBe(200);
  });
});
