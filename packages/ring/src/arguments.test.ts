/** Arguments that do not fit: refused with a sentence that shows the right form, before anything has happened. */
import { beforeEach, describe, expect, test } from 'vitest';
import { LockTimeoutError, RingConfigError, RingUsageError } from './errors.ts';
import { EtcdClient } from './etcd/etcd-client.ts';
import { successor } from './placements.ts';
import { Ring } from './ring.ts';
import { VirtualRings } from './testing/virtual-rings.ts';

let rings: VirtualRings;
let ring: Ring;

beforeEach(async () => {
  rings = new VirtualRings();
  ({ ring } = await rings.openWith('a'));
});

/** The error of a promise or call, which must be a RingUsageError. */
async function refusal(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (error instanceof RingUsageError) return error.message;
    throw error;
  }
  throw new Error('It was accepted.');
}

test('a lock is not called valid for NaN, a negative number or a text of milliseconds', async () => {
  const lock = await ring.lock('k');
  for (const ms of [Number.NaN, -1, '5']) {
    const says = await refusal(() => lock.assertValid(ms as number));
    expect(says).toMatch(/^ring: minMs is (NaN|-1|"5"); 0 or more is right\.$/);
  }
  lock.assertValid();
  lock.assertValid(100);
});

describe('the options of a lock', () => {
  test.each([
    [{ timeoutMs: Number.NaN }, 'ring: timeoutMs is NaN; 0 or more, or Infinity, is right.'],
    [{ timeoutMs: -1 }, 'ring: timeoutMs is -1; 0 or more, or Infinity, is right.'],
    [{ timeoutMs: '5s' }, 'ring: timeoutMs is "5s"; 0 or more, or Infinity, is right.'],
    [{ timeout: 5 }, 'ring: lock has no option "timeout"; did you mean "timeoutMs"?'],
    [{ wait: 5 }, 'ring: lock has no option "wait"; the options are signal, timeoutMs, durable.'],
    [{ durable: 'yes' }, 'ring: durable is "yes"; true or false is right.'],
    [
      { signal: new AbortController() },
      'ring: signal is an object; an AbortSignal such as controller.signal is right.',
    ],
    [
      5000,
      'ring: the options of lock are 5000; an object with signal, timeoutMs, durable is right.',
    ],
    [
      null,
      'ring: the options of lock are null; an object with signal, timeoutMs, durable is right.',
    ],
  ])('%j are refused, though the lock is free', async (options, says) => {
    expect(await refusal(() => ring.lock('k', options as object))).toBe(says);
    const run = (): void => {
      throw new Error('It ran.');
    };
    expect(await refusal(() => ring.withLock('k', run, options as object))).toBe(says);
    expect(ring.lockCount).toBe(0);
  });

  test('each right option is taken', async () => {
    const { signal } = new AbortController();
    for (const options of [
      {},
      { timeoutMs: 0 },
      { timeoutMs: Number.POSITIVE_INFINITY },
      { signal, timeoutMs: undefined, durable: false },
    ]) {
      const lock = await ring.lock('k', options);
      await lock.release();
    }
  });
});

test('withLock without a function is refused before the lock is taken', async () => {
  const says = await refusal(() => ring.withLock('k', undefined as unknown as () => void));
  expect(says).toBe('ring: withLock takes a function to run, not undefined.');
});

test('a wait that runs out of time in a process without a member says that none was added', async () => {
  const empty = (await rings.open()).ring;
  const waited = await rings.settled(
    empty.lock('k', { timeoutMs: 50 }).catch((error: unknown) => error),
  );
  expect(waited).toBeInstanceOf(LockTimeoutError);
  expect((waited as Error).message).toBe(
    'ring: the lock on "k" was not granted within 50 ms. No member was added here, and only members are given keys: call addMember first.',
  );
  await ring.lock('k');
  const second = ring.lock('k', { timeoutMs: 50 }).catch((error: unknown) => String(error));
  expect(await rings.settled(second)).toMatch(/within 50 ms\.$/);
});

describe('a member', () => {
  test.each([
    [undefined, {}, /^ring: a member id is a text of 1 to 256 characters, .+, not undefined\.$/],
    [7, {}, /not 7\.$/],
    ['', {}, /not ""\.$/],
    ['\ud800', {}, /without lone surrogates, not "\\ud800"\.$/],
    ['b', { weigth: 1 }, /^ring: addMember has no option "weigth"; did you mean "weight"\?$/],
    ['b', { weight: '2' }, /^ring: the weight of member "b" is "2"; it must be 0 or more\.$/],
    ['b', { weight: Number.NaN }, /is NaN; it must be 0 or more/],
    ['b', { weight: -1 }, /is -1; it must be 0 or more/],
    ['b', { labels: 'x' }, /^ring: labels is "x"; texts under names .+ are right\.$/],
    ['b', { labels: 'x', onlyFor: 'k' }, /^ring: labels is "x"; texts under names .+ are right\.$/],
    ['b', { labels: { zone: 5 } }, /^ring: the label "zone" is 5; texts under names/],
    ['b', { waitMs: Number.NaN }, /^ring: waitMs is NaN; 0 or more, or Infinity, is right\.$/],
    ['b', { waitMs: -1 }, /^ring: waitMs is -1; /],
    ['b', { onlyFor: 5 }, /^ring: a key is a text of 1 to 1024 characters, .+, not 5\.$/],
    ['b', 7, /^ring: the options of addMember are 7; an object with weight, /],
  ])('%j with %j is refused, and none joins', async (id, options, says) => {
    const joining = refusal(() => ring.addMember(id as string, options as object));
    expect(await rings.settled(joining)).toMatch(says);
    expect(ring.view.members.map((member) => member.id)).toEqual(['a']);
  });
});

test.each([undefined, 7, '', 'x'.repeat(1025), 'a\ud800'])(
  '%j is refused as a key',
  async (key) => {
    for (const call of [
      () => ring.lock(key as string),
      () => ring.tryLock(key as string),
      () => ring.unlock(key as string),
      () => ring.ownerOf(key as string),
    ]) {
      expect(await refusal(call)).toMatch(
        /^ring: a key is a text of 1 to 1024 characters, without lone surrogates, not /,
      );
    }
  },
);

test('an event that does not exist, and a listener that cannot be called, are refused', async () => {
  const on = ring.on.bind(ring) as (name: unknown, listener: unknown) => unknown;
  expect(await refusal(() => on('veiw', () => {}))).toBe(
    'ring: there is no event "veiw"; the events are view, member, gained, revoking, released, error.',
  );
  const says = 'ring: the listener of "view" is undefined; a function is right.';
  expect(await refusal(() => on('view', undefined))).toBe(says);
});

describe('the options of Ring.open', () => {
  const right = { endpoints: ['http://127.0.0.1:1'], prefix: 'p' };

  test.each([
    [{ drainms: 3 }, 'ring: Ring.open has no option "drainms"; did you mean "drainMs"?'],
    [{ ttl: 3 }, 'ring: Ring.open has no option "ttl"; did you mean "ttlMs"?'],
    [{ ttlMs: '5000' }, 'ring: ttlMs is "5000"; from 1000 to 3600000 is right.'],
    [{ ttlMs: Number.NaN }, 'ring: ttlMs is NaN; from 1000 to 3600000 is right.'],
    [{ marginMs: -1 }, 'ring: marginMs is -1; from 0 to less than ttlMs is right.'],
    [{ drainMs: Number.NaN }, 'ring: drainMs is NaN; 0 or more, or Infinity, is right.'],
    [{ prefix: 5 }, /^ring: the prefix must be a name such as .+, not 5\.$/],
    [
      { endpoints: 'http://127.0.0.1:1' },
      `ring: endpoints is "http://127.0.0.1:1"; a list of addresses such as ['http://127.0.0.1:2379'] is right.`,
    ],
    [{ endpoints: [] }, /^ring: endpoints is empty; a list of addresses/],
    [{ endpoints: undefined }, /^ring: endpoints is undefined; a list of addresses/],
    [{ endpoints: [7] }, /^ring: endpoints has the entry 7; a list of addresses/],
    [{ placement: 'foo' }, /^ring: placement is "foo"; "rendezvous", "successor", a hash .+\.$/],
    [{ placement: 'sucessor' }, /is right\. Did you mean "successor"\?$/],
    [{ placement: { name: 'x' } }, /^ring: placement is an object; /],
    [{ tls: { cacert: '' } }, /^ring: tls has no option "cacert"; /],
    [{ auth: { user: 'a', passwd: 'b' } }, /no option "passwd"; did you mean "password"\?$/],
    [{ etcd: 'http://127.0.0.1:1' }, /^ring: etcd is "http:.+Addresses go to endpoints\.$/],
    [{ log: 'debug' }, /^ring: log is "debug"; an object with the functions debug, info/],
  ])('%j is refused', async (options, says) => {
    const opening = Ring.open({ ...right, ...options } as typeof right);
    const error = await opening.catch((reason: unknown) => reason as Error);
    expect(error).toBeInstanceOf(RingConfigError);
    const message: unknown = typeof says === 'string' ? says : expect.stringMatching(says);
    expect((error as Error).message).toEqual(message);
  });

  test('a text in the place of the options is refused', async () => {
    const opening = Ring.open('http://127.0.0.1:1' as unknown as typeof right);
    await expect(opening).rejects.toThrow(/^ring: the options of Ring.open are "http:/);
  });
});

test('a placement of one’s own that gives a slot that is not there is named', async () => {
  const placement = { name: 'own', slotOf: () => 64.5, assign: () => [] };
  const own = (await rings.open({ prefix: 'own', placement })).ring;
  expect(() => own.tryLock('k')).toThrow(
    'ring: the placement "own" gives slot 64.5 to a key; a whole number below 64 is right.',
  );
});

test('successor takes a function, and says so', () => {
  expect(() => successor('crc32' as never)).toThrow(/hash of successor is "crc32"; a function/);
});

test('a client of etcd takes a list of endpoints, and says so', () => {
  const given = { endpoints: 'http://127.0.0.1:2379', clock: rings.clock, log: rings.log };
  expect(() => new EtcdClient(given as never)).toThrow(/a list with at least one endpoint/);
});
