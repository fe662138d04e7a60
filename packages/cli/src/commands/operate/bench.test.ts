/** `bench`: it counts pops that a cluster makes right, and pops that it makes wrong. */
import { afterEach, describe, expect, test } from 'vitest';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import { realMember } from '../../testing/real-member.ts';
import { type Answer, type Asked, fakeMember, recordingIo } from '../../testing/world.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Item {
  readonly callback: { readonly http: { readonly uri: string; readonly opaque: string } };
}
type Callback = (item: Item) => Promise<unknown>;

function call({ callback: { http } }: Item, lateMs = 0): Promise<unknown> {
  const headers = { 'x-timer-due': new Date(Date.now() - lateMs).toISOString() };
  return fetch(http.uri, { method: 'POST', body: http.opaque, headers });
}

/** A member that confirms every timer and at once calls `pop` for each, without regard to its interval. */
async function careless(pop: (item: Item, index: number) => unknown) {
  const member = await fakeMember(({ method, body }: Asked): Answer => {
    if (method === 'DELETE') return { body: { cancelled: 0 } };
    const items = body as Item[];
    items.forEach((item) => pop(item, Number(item.callback.http.opaque)));
    return { body: items.map((_, i) => ({ status: 200, id: `${i}`, copies: '1/1' })) };
  });
  closing.push(() => member.close());
  return member;
}

async function bench(url: string, ...args: string[]) {
  const io = recordingIo({ CARILLON_SERVER: url });
  const code = await run(['bench', ...args], io, release);
  return { code, out: io.outLines, err: io.errLines };
}

const quick = ['--interval', '0ms', '--spread', '0ms', '--wait', '100ms', '--json'];

describe('carillon bench', () => {
  test('a real member loses nothing and is never early', async () => {
    const real = await realMember();
    closing.push(() => real.stop());
    const url = `http://${real.address}`;
    const args = ['--timers', '600', '--interval', '100ms', '--spread', '300ms'];
    const { code, out } = await bench(url, ...args, '--json');
    expect(JSON.parse(out[0] ?? '')).toMatchObject({
      set: 600,
      refused: 0,
      popped: 600,
      lost: 0,
      early: 0,
    });
    expect(code).toBe(0);
  });

  test('lost and double pops are counted; a loss exits 1, and the remaining timers are cancelled', async () => {
    const sent: Promise<unknown>[] = [];
    const send: Callback = (item) => {
      const done = call(item, 40);
      sent.push(done);
      return done;
    };
    const { url, asked } = await careless((item, index) => {
      if (index === 3) return;
      void send(item);
      if (index === 5) void send(item);
    });
    const { code, out } = await bench(url, '--timers', '10', ...quick, '--wait', '1s');
    await Promise.all(sent);
    expect(code).toBe(1);
    const result = JSON.parse(out[0] ?? '') as { 'lateness-ms': { p50: number; max: number } };
    expect(result).toMatchObject({ set: 10, popped: 9, lost: 1, doubles: 1, early: 0 });
    expect(result['lateness-ms'].p50).toBeGreaterThanOrEqual(40);
    expect(result['lateness-ms'].max).toBeGreaterThanOrEqual(result['lateness-ms'].p50);
    expect(asked.at(-1)).toMatchObject({ method: 'DELETE' });
    expect(asked.at(-1)?.path).toMatch(/^\/timers\?tag=bench%3A/);
  });

  test('an early pop exits 1', async () => {
    const { url } = await careless((item) => call(item));
    const { code, out } = await bench(url, '--timers', '2', '--interval', '1h', '--wait', '0ms');
    expect(code).toBe(1);
    expect(out.at(-1)).toBe('refused 0, lost 0, early 2, double 0');
  });

  test('a timer that the cluster refuses is counted and exits 1', async () => {
    const member = await fakeMember(({ method }) =>
      method === 'DELETE' ? { body: {} } : { body: [{ status: 503, detail: 'Full.' }] },
    );
    closing.push(() => member.close());
    const { code, out } = await bench(member.url, '--timers', '1', ...quick);
    expect([code, JSON.parse(out[0] ?? '')]).toMatchObject([1, { set: 0, refused: 1, lost: 0 }]);
  });

  test('no member there is one sentence', async () => {
    const { code, err } = await bench('http://127.0.0.1:1', '--timers', '1000', ...quick);
    expect([code, err.length]).toEqual([1, 1]);
  });

  test.each<[string[], string]>([
    [['--timers', '0'], '--timers must be a whole number from 1'],
    [['--spread', '30'], '--spread must be a duration'],
    [['1000'], 'is too much here'],
  ])('%j is wrong usage: %s', async (args, sentence) => {
    const { code, err } = await bench('http://127.0.0.1:1', ...args);
    expect([code, err.length]).toEqual([2, 1]);
    expect(err[0]).toContain(sentence);
  });
});
