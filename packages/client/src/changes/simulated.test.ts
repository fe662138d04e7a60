/**
 * Many callers, two members and a network that loses requests and answers, in virtual time and by a seed: every change
 * has one outcome, its own, and changes of one timer are applied in the order of the calls.
 */
import { SeededRandom } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Carillon } from '../carillon.ts';
import { UnreachableError } from '../errors.ts';
import { FakeSystem, json, located, type Seen, standIn } from '../testing/stand-in.ts';

const timerCount = 5;
const lost = new TypeError('fetch failed', { cause: new Error('lost') });

/** The change in a single request or in an item of a batch. */
interface Wish {
  readonly change: string;
  readonly id?: string;
  readonly key?: string;
  readonly timer?: { readonly callback: { readonly http: { readonly opaque: string } } };
}

/** Both members together: they share their timers. */
class Cluster {
  readonly timers = new Map<string, string>();
  readonly wrongs: string[] = [];
  private readonly applied = new Map<string, number>();
  private readonly random: SeededRandom;
  /** Members of an older release take no changes by name in a batch. */
  private readonly older: ReadonlySet<string>;

  constructor(random: SeededRandom) {
    this.random = random;
    this.older = new Set(random.unit() < 0.3 ? ['http://a:1'] : []);
  }

  answer(seen: Seen): Response | Error {
    const fate = this.random.unit();
    if (fate < 0.1) return lost;
    if (seen.path !== '/timers/batch') {
      const id = this.apply(wishOf(seen));
      return fate < 0.2 ? lost : located(id);
    }
    const items = seen.body as Wish[];
    if (this.older.has(seen.member)) {
      return json(items.map(() => ({ status: 400, pointer: '/timing' })));
    }
    const outcomes = items.map((wish) =>
      this.random.unit() < 0.1 ? { status: 503 } : { status: 200, id: this.apply(wish) },
    );
    return fate < 0.2 ? lost : json(outcomes);
  }

  /** Gives back the id of the timer. */
  private apply({ change, id, key, timer }: Wish): string {
    const opaque = timer?.callback.http.opaque ?? '';
    if (change === 'set') {
      const known = this.timers.get(`key ${key}`) ?? `timer of ${opaque}`;
      this.timers.set(`key ${key}`, known);
      return known;
    }
    const number = (id ?? '').slice(0, 16);
    const turn = Number.parseInt((id ?? '').slice(16, 32), 16);
    const before = this.applied.get(number) ?? 0;
    if (turn < before) this.wrongs.push(`change ${turn} of ${number} came after ${before}`);
    this.applied.set(number, turn);
    return id ?? '';
  }
}

function wishOf({ method, path, headers, body }: Seen): Wish {
  const timer = body as NonNullable<Wish['timer']>;
  if (method === 'POST') return { change: 'set', key: headers.get('idempotency-key') ?? '', timer };
  const id = decodeURIComponent(path.slice('/timers/'.length));
  return method === 'PUT' ? { change: 'replace', id, timer } : { change: 'cancel', id };
}

/** Half of the id of a timer: its number, or the part that members choose. Here that part names the call. */
const hex = (value: number): string => value.toString(16).padStart(16, '0');

/** Calls at random moments; each resolves to the fault of its outcome, or null. */
function call(client: Carillon, random: SeededRandom, turn: number): Promise<string | null> {
  const spec = { in: '10s', uri: 'http://r/', opaque: String(turn) };
  const kind = random.between(0, 2);
  const id = `${hex(random.between(1, timerCount))}${hex(turn)}-2`;
  const stop = new AbortController();
  const options = random.unit() < 0.2 ? { signal: stop.signal } : {};
  if (random.unit() < 0.1) stop.abort(new Error('aborted'));
  const expected = kind === 0 ? `timer of ${turn}` : id;
  const changed =
    kind === 0
      ? client.set(spec, options)
      : kind === 1
        ? client.replace(id, spec, options)
        : client.cancel(id, options);
  return changed.then(
    (given) => (given.id === expected ? null : `${expected} has the outcome of ${given.id}`),
    (error: unknown) => {
      const isMeant = error instanceof UnreachableError || (error as Error).message === 'aborted';
      return isMeant || (error as { status?: number }).status === 503 ? null : String(error);
    },
  );
}

/** Promises that can settle have settled. */
const settle = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

const seeds = Array.from({ length: 40 }, (_, i) => i + 1);

test.each(seeds)('changes in a network that loses some, seed %i', async (seed) => {
  const random = new SeededRandom(seed);
  const cluster = new Cluster(random);
  const system = new FakeSystem();
  const waiting: (() => void)[] = [];
  const { fetch } = standIn((seen) => {
    return new Promise<Response>((resolve, reject) => {
      waiting.push(() => {
        const answer = cluster.answer(seen);
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      });
    });
  });
  const members = ['http://a:1', 'http://b:1'];
  const client = new Carillon({ members, fetch, system, refresh: null });
  const state = { open: 0 };
  const wrongs: (string | null)[] = [];
  for (let turn = 1; turn <= 120 || state.open > 0; ) {
    for (let i = random.between(0, 6); i > 0 && turn <= 120; i--) {
      state.open++;
      void call(client, random, turn++).then((wrong) => {
        wrongs.push(wrong);
        state.open--;
      });
    }
    await settle();
    const [next] = waiting.splice(random.between(0, Math.max(0, waiting.length - 1)), 1);
    next?.();
    await settle();
    system.advance(50);
  }
  expect(wrongs).toHaveLength(120);
  expect(wrongs.filter((wrong) => wrong !== null)).toEqual([]);
  expect(cluster.wrongs).toEqual([]);
});
