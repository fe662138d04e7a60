import { type CallbackResult, encodeDefinition, State, VersionClock } from '@carillon/core';
import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { expect, it } from 'vitest';
import { defaultConfig } from '../config/config.ts';
import { Metrics } from '../metrics/metrics.ts';
import { Digests } from '../replication/digests.ts';
import { Replica } from '../replication/replica.ts';
import type { Message } from '../replication/wire/message.ts';
import { Store } from '../store/store.ts';
import { definitionOf, recordOf } from '../testing/records.ts';
import { FailingReceivers } from './failures/failing-receivers.ts';
import type { BeginPop } from './sending/batches.ts';
import { silentLog } from '../testing/one-member.ts';
import { createPopper } from './create-popper.ts';
import { History } from './outcome/history.ts';
import type { Popper } from './popper.ts';

const ok: CallbackResult = { kind: 'answer', status: 200, retryAfterMs: null };
const once = definitionOf({ timing: { kind: 'at', atMs: 0 } });
const digestsOf = () => new Digests('a', () => 0);

/**
 * The popper of member `a` over a real store. It asks `others`, which grant every claim but the first `unreachable`
 * ones, to which there is no answer; callbacks are made by the test.
 */
function rig(others: readonly string[] = [], unreachable = 0) {
  const clock = new VirtualClock();
  const store = new Store();
  const calls: { begin: BeginPop; done: (result: CallbackResult) => void }[] = [];
  const sent: Message[] = [];
  const told: (readonly string[])[] = [];
  const digests = digestsOf();
  const retention = { tombstoneMs: 60_000, idempotentMs: 60_000, letterMs: () => 60_000 };
  const replica: Replica = new Replica({
    self: 'a',
    clock,
    store,
    journal: () => null,
    digests,
    versions: new VersionClock(),
    retention,
    desired: () => ['a', 'b'],
    onChange: (handle, record) => popper.changed(handle, record),
  });
  const popper: Popper = createPopper({
    self: 'a',
    env: { clock, random: new SeededRandom(1) },
    store,
    replica,
    cluster: {
      peers: {
        silent: () => false,
        stillSinceMs: () => null,
        send: (_, message, done) => {
          sent.push(message);
          done(sent.length <= unreachable ? null : { type: 'granted' });
        },
      },
      instant: () => ({ nowMs: clock.now(), wallMs: clock.wall() }),
      idOf: () => 'id',
      numberOf: () => null,
      othersOf: () => others,
      holds: () => false,
      tell: (_, unlisted) => void told.push(unlisted),
      keep: (_, done) => done(true),
      end: () => undefined,
    },
    metrics: new Metrics({ version: 'test', runtime: 'test' }),
    historyLog: null,
    history: new History(defaultConfig.history),
    batches: {
      addresseeOf: () => ({ uri: '', split: null, namespace: '', batch: false, alone: false }),
      waitMs: () => 0,
      delayedUntilMs: () => Number.NEGATIVE_INFINITY,
      call: (_, begin, done) => void calls.push({ begin, done }),
    },
    limits: { activeCountMax: 100, callbackTimeoutMs: 1000, retry: defaultConfig.retry },
    keepsAnswers: () => true,
    isBoxFull: () => false,
    failing: new FailingReceivers(clock, silentLog),
    tracer: null,
    announce: (_, done) => done(),
  });
  popper.wakeUp();
  return { clock, replica, popper, calls, sent, told, digests };
}

it('the outcome of a pop is written over the record as it is by then, not as it was when the call began', async () => {
  const { clock, replica, calls, digests } = rig();
  const body = encodeDefinition(once);
  const record = recordOf({ dueMs: clock.now() + 100, body, replicas: ['a', 'b'] });
  replica.write(record);
  await clock.advance(100);
  expect(calls[0]?.begin()).toMatchObject({ record });
  replica.relist(record, ['a', 'c']);
  calls[0]?.done(ok);
  const ended = replica.get(record.hi, record.lo);
  expect(ended).toMatchObject({ state: State.tombstone, replicas: ['a', 'c'], outcome: 200 });
  // Peers compare the digest of the record that is there, and of none before it.
  const expected = digestsOf();
  if (ended !== undefined) expected.toggle(ended);
  for (const peer of ['b', 'c']) expect(digests.of(peer)).toEqual(expected.of(peer));
});

it('a record that has not changed meanwhile ends likewise', async () => {
  const { clock, replica, calls, digests } = rig();
  const record = recordOf({ dueMs: clock.now() + 100, body: encodeDefinition(once) });
  replica.write(record);
  await clock.advance(100);
  calls[0]?.begin();
  calls[0]?.done(ok);
  const ended = replica.get(record.hi, record.lo);
  expect(ended).toMatchObject({ state: State.tombstone, replicas: ['a', 'b'], outcome: 200 });
  const expected = digestsOf();
  if (ended !== undefined) expected.toggle(ended);
  expect(digests.of('b')).toEqual(expected.of('b'));
  expect(replica.primaries).toBe(0);
});

it('the outcome of a pop means nothing to a timer that was replaced meanwhile', async () => {
  const { clock, replica, calls } = rig();
  const record = recordOf({ dueMs: clock.now() + 100, body: encodeDefinition(once) });
  replica.write(record);
  await clock.advance(100);
  calls[0]?.begin();
  const dueMs = clock.now() + 50_000;
  const replaced = { ...record, versionMs: record.versionMs + 1, dueMs, retryMs: dueMs };
  replica.write(replaced);
  calls[0]?.done(ok);
  expect(replica.get(record.hi, record.lo)).toMatchObject({ state: State.live, dueMs });
});

it('a request that did not leave ends the renewals of its claim, also after another replica has gone past the pop', async () => {
  const { clock, replica, popper, calls, sent } = rig(['b']);
  const record = recordOf({ dueMs: clock.now() + 100, body: encodeDefinition(once) });
  replica.write(record);
  await clock.advance(100);
  const renewals = () => sent.filter((message) => message.type === 'claim' && message.calling);
  calls[0]?.begin();
  await clock.advance(5000);
  const { length } = renewals();
  expect(length).toBeGreaterThan(0);
  const usual = { termMs: 1000, position: 0, calling: false, serial: 7, dueMs: 0 };
  const claimed = (newer: { attempt: number } | { sequence: number }) =>
    popper.claimed('b', { type: 'claim', standing: { ...record, ...newer }, ...usual }).type;
  // Another attempt at the pop that is being made here waits for the answer; the next pop does not.
  expect(claimed({ attempt: 1 })).toBe('claimed');
  expect(claimed({ sequence: 1 })).toBe('granted');
  calls[0]?.done({ kind: 'unmade', detail: '', waitMs: 1000 });
  await clock.advance(5000);
  expect(renewals()).toHaveLength(length);
});

it.each([
  { gapMs: 5000, callsAtOnce: 0 },
  // Short timers cannot wait.
  { gapMs: 500, callsAtOnce: 1 },
])(
  'a member that has just started asks a replica that it cannot reach again before it pops, where the gap is $gapMs ms',
  async ({ gapMs, callsAtOnce }) => {
    const { clock, replica, calls, sent } = rig(['b'], 2);
    const body = encodeDefinition(once);
    const dueMs = clock.now() + 100;
    replica.write(recordOf({ dueMs, startMs: dueMs - gapMs, gapMs, body }));
    await clock.advance(150);
    expect(calls).toHaveLength(callsAtOnce);
    await clock.advance(200);
    expect(calls).toHaveLength(1);
    expect(sent.filter(({ type }) => type === 'claim')).toHaveLength(callsAtOnce === 0 ? 3 : 1);
  },
);

it('other replicas are asked before the pop is due, and its request leaves when it is', async () => {
  const { clock, replica, calls, sent } = rig(['b']);
  const dueMs = clock.now() + 10_000;
  replica.write(recordOf({ dueMs, body: encodeDefinition(once) }));
  await clock.advance(9995);
  expect([sent.length, calls.length]).toEqual([1, 0]);
  await clock.advance(4.9);
  expect(calls).toHaveLength(0);
  await clock.advance(0.1);
  expect([sent.length, calls.length]).toEqual([1, 1]);
  expect(calls[0]?.begin()).not.toBeNull();
});

it('a timer that is cancelled between the claim and the due time makes no request', async () => {
  const { clock, replica, calls, sent } = rig(['b']);
  const record = recordOf({ dueMs: clock.now() + 10_000, body: encodeDefinition(once) });
  replica.write(record);
  await clock.advance(9995);
  replica.write({ ...record, state: State.tombstone, versionMs: record.versionMs + 1 });
  await clock.advance(100);
  expect(calls).toHaveLength(0);
  expect(sent).toHaveLength(1);
});

it.each([
  { listed: ['a', 'b', 'c'], asked: [2, 1] },
  // The view asks for c, and the list does not name it: c may be the first of another list.
  { listed: ['a', 'b'], asked: [4, 0] },
])(
  'a replica that cannot be reached is asked again before the pop where the list is not that of the view: %j',
  async ({ listed, asked }) => {
    const { clock, replica, calls, sent } = rig(['b', 'c'], 2);
    const dueMs = clock.now() + 10_000;
    replica.write(recordOf({ dueMs, replicas: listed, body: encodeDefinition(once) }));
    await clock.advance(10_050);
    expect(calls).toHaveLength(asked[1] ?? 0);
    await clock.advance(100);
    expect([sent.length, calls.length]).toEqual([asked[0], 1]);
  },
);

it('a member that is refused because of a call under way is told of its outcome, though it is not listed', async () => {
  const { clock, replica, popper, calls, sent, told } = rig(['b']);
  const record = recordOf({ dueMs: clock.now() + 10_000, body: encodeDefinition(once) });
  replica.write(record);
  await clock.advance(10_000);
  calls[0]?.begin();
  const [claim] = sent;
  if (claim?.type !== 'claim') throw new Error('The other replica is asked first.');
  expect(popper.claimed('c', { ...claim, serial: 9 }).type).toBe('claimed');
  calls[0]?.done(ok);
  await clock.advance(10);
  expect(told).toEqual([['c']]);
});
