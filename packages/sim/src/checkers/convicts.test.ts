/** A test of the checkers: each convicts where a fault happened that does not explain the broken promise. */
import { SeededRandom } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import { Client } from '../client.ts';
import {
  bodyOf,
  History,
  numberOf,
  type Operation,
  type TimerHistory,
  type TimerWish,
} from '../history.ts';
import { Judge } from '../judge.ts';
import { drawPlan, type Plan, wholePlan } from '../plan.ts';
import { files, type Rot } from '../rot/rot.ts';
import { SimCluster } from '../sim-cluster.ts';
import type { SimMember } from '../sim-member.ts';
import type { ReceivedCall } from '../world/calls.ts';
import { viewMember } from '../world/views.ts';
import { ByTwice } from './by-twice.ts';
import { ComeAndGo } from './come-and-go.ts';
import { Once } from './once.ts';
import { Pops } from './pops.ts';
import { Safe } from './safe.ts';
import { Sticks } from './sticks.ts';

const names = ['m0', 'm1', 'm2'];
const crash = { power: true, wipe: false };
const how = { keyed: false, batched: false };

/** Three members that serve, a client, and a judge of a run with these faults. */
async function court(changes: Partial<Plan> = {}) {
  const cluster = new SimCluster({ seed: 1, onBug: (what) => expect.unreachable(what) });
  const history = new History();
  const plan: Plan = { ...drawPlan(1, wholePlan), faults: [], ...changes };
  const judge = new Judge(cluster, history, plan);
  cluster.onServes = (member) => judge.returns.note(member);
  for (const name of names) cluster.add(name);
  cluster.views.change(names.map((name) => viewMember(name)));
  for (const member of cluster.members.values()) member.start();
  await cluster.world.run(5000);
  let contacts: readonly string[] = names;
  const client = new Client({
    cluster,
    history,
    random: new SeededRandom(1),
    contacts: () => contacts,
    onAck: (operation) => judge.lostCopies.onAck(operation),
    onRefused: () => expect.unreachable('Refused.'),
  });
  const pass = (seconds: number): Promise<void> =>
    cluster.world.run(cluster.world.nowMs + seconds * 1000);
  const done = async (change: Promise<Operation>): Promise<Operation> => {
    const ended: Operation[] = [];
    void change.then((operation) => ended.push(operation));
    for (let i = 0; i < 60 && ended.length === 0; i++) await pass(1);
    return change;
  };
  const begin = (wish: Partial<TimerWish> = {}, timer = history.timer()) => {
    const whole = { intervalMs: 60_000, count: 1, factor: 2, receiver: 'r0', ...wish };
    return { timer, change: client.set(timer, whole, how) };
  };
  return {
    cluster,
    judge,
    pass,
    /** Sends the first attempt to this member. */
    via: (name: string) => {
      contacts = [name];
    },
    begin,
    set: (wish?: Partial<TimerWish>, timer?: TimerHistory) => done(begin(wish, timer).change),
    cancel: (operation: Operation) => done(client.cancel(operation.timer, false)),
    holders: ({ timer }: Operation) =>
      names.filter(
        (name) => cluster.member(name).member?.store.get(...keptAt(timer)) !== undefined,
      ),
    broken: () => judge.violations.map(({ promise }) => promise),
  };
}

function keptAt(timer: Operation['timer']): [number, number] {
  const number = numberOf(timer);
  return [Number.parseInt(number.slice(0, 8), 16), Number.parseInt(number.slice(8), 16)];
}

/** Zeros in place of a whole short file. */
function rotOf({ storage }: SimMember, file: string): Rot {
  const all = storage?.look().flatMap(({ name }) => (files.test(name) ? [name] : [])) ?? [];
  return { does: 'zero', file: (all.toSorted().indexOf(file) + 0.5) / all.length, at: 0 };
}

/** A callback of a timer that a receiver took. */
function callOf(operation: Operation, by: string, startMs: number): ReceivedCall {
  const number = numberOf(operation.timer);
  const result = { kind: 'answer', status: 200, retryAfterMs: null } as const;
  return {
    by,
    receiver: 'r0',
    startMs,
    popId: `${number}_1_1_1`,
    number,
    sequence: 1,
    missed: 0,
    attempt: 1,
    body: bodyOf(operation),
    effectMs: startMs + 1,
    result,
    endMs: startMs + 2,
  };
}

describe('P1', () => {
  test('a member that was down before the request was sent is no copy', async () => {
    const { cluster, judge, set, via, pass, broken } = await court();
    cluster.member('m2').crash(crash);
    await pass(1);
    via('m0');
    const operation = await set({ factor: 3 });
    const safe = new Safe(judge, () => ['m0', 'm1']);
    safe.onAck(operation);
    expect(broken()).toEqual([]);
    operation.have = 3;
    safe.onAck(operation);
    expect(broken()).toEqual(['P1']);
  });

  test('a stand-in that is no copy any more is missed unless every listed replica has the record', async () => {
    const { cluster, judge, set, holders, broken } = await court();
    const operation = await set();
    const safe = new Safe(judge, () => names);
    operation.have = 3;
    safe.onAck(operation);
    expect(broken()).toEqual([]);
    const { member } = cluster.member(holders(operation)[0] ?? '');
    expect(member?.store.remove(...keptAt(operation.timer))).toBe(true);
    safe.onAck(operation);
    expect(broken()).toEqual(['P1']);
  });

  test('a member that crashed after the request was sent may have been one', async () => {
    const { cluster, judge, set, via, broken } = await court();
    via('m0');
    const operation = await set({ factor: 3 });
    cluster.member('m2').crash(crash);
    new Safe(judge, () => names).onAck(operation);
    expect(broken()).toEqual([]);
  });

  test('a change that another one has undone is missed unless an attempt at an earlier one could still act', async () => {
    const { judge, set, cancel, broken } = await court();
    const first = await set();
    const second = await cancel(first);
    await set({}, first.timer);
    const safe = new Safe(judge, () => names);
    const [attempt] = first.attempts;
    if (attempt === undefined) throw new Error('The set was sent.');
    const { settledMs } = attempt;
    attempt.settledMs = null;
    safe.onAck(second);
    expect(broken()).toEqual([]);
    attempt.settledMs = settledMs;
    safe.onAck(second);
    expect(broken()).toEqual(['P1']);
  });
});

describe('P4', () => {
  const faults = [
    { kind: 'step', atMs: 1, forMs: 0, member: 'm0', byMs: 3000 },
    { kind: 'crash', atMs: 2, forMs: 0, member: 'm0', stays: false, ...crash },
  ] as const;

  test('a pop that never begins is late also where clocks were set and members restarted', async () => {
    const { judge, set, pass, broken } = await court({ faults });
    const checker = new ByTwice(judge, new Pops());
    // No callback reaches the checker.
    const operation = await set({ intervalMs: 20_000 });
    checker.onAck(operation);
    await pass(60);
    expect(broken()).toEqual(['P4']);
  });

  /**
   * The client hears 2 s late of a set for 18 s, and no callback reaches the checker. All members stand still from
   * `fromS` to `toS` after the set was sent. Members make the pop after 20 s, so that they hold it when the checker
   * looks.
   */
  async function standStill(
    fromS: number,
    toS: number,
    kind: 'paused' | 'stalled' = 'paused',
  ): Promise<string[]> {
    const { cluster, judge, set, pass, broken } = await court();
    const sentMs = cluster.world.nowMs;
    const operation = await set({ intervalMs: 20_000 });
    if (operation.wish === null) throw new Error('A set has a wish.');
    const wish = { ...operation.wish, intervalMs: 18_000 };
    new ByTwice(judge, new Pops()).onAck({ ...operation, wish, ackMs: sentMs + 2000 });
    const [beganMs, endedMs] = [sentMs + fromS * 1000, sentMs + toS * 1000];
    for (const name of names) judge.faults.begin(name, kind, 'a pause', beganMs)(endedMs);
    await pass(60);
    return broken();
  }

  test('a member that stood still before the pop can have been due is no excuse', async () => {
    expect(await standStill(10, 17.9)).toEqual(['P4']);
  });

  test('a member that stood still when the pop may have been due is one, though the client heard later', async () => {
    expect(await standStill(17, 18.5)).toEqual([]);
  });

  test('a member without a processor for a moment is one in the last second before twice the interval, and not before', async () => {
    expect(await standStill(35.5, 36.5, 'stalled')).toEqual(['P4']);
    expect(await standStill(37.5, 38, 'stalled')).toEqual([]);
  });
});

describe('P5', () => {
  /** Two deliveries of a timer, two minutes apart; ended timers are remembered for one. */
  const plan = { tombstoneMs: 60_000 };

  test('a member that came back without the timer is no excuse, however long it was away', async () => {
    const { cluster, judge, set, holders, pass, broken } = await court(plan);
    const operation = await set({ factor: 1, intervalMs: 600_000 });
    const [holder = ''] = holders(operation);
    const [bystander = ''] = names.filter((name) => name !== holder);
    cluster.member(bystander).crash(crash);
    await pass(100);
    cluster.member(bystander).start();
    await pass(20);
    const once = new Once(judge);
    once.onCall(callOf(operation, holder, 10_000));
    once.onCall(callOf(operation, holder, 137_000));
    expect(broken()).toEqual(['P5']);
  });

  test.each([
    { heard: 'heard', isHeard: true },
    { heard: 'never heard', isHeard: false },
  ])(
    'a member that came back with the timer alive is one, also for a timer that its client $heard of',
    async ({ isHeard }) => {
      const { cluster, judge, set, holders, pass, broken } = await court(plan);
      const operation = await set({ factor: 1, intervalMs: 600_000 });
      const [holder = ''] = holders(operation);
      const [other = ''] = names.filter((name) => name !== holder);
      const calls = [10_000, 137_000].map((startMs) => callOf(operation, other, startMs));
      if (!isHeard) operation.timer.id = null;
      cluster.member(holder).crash(crash);
      await pass(100);
      cluster.member(holder).start();
      await pass(20);
      const once = new Once(judge);
      for (const call of calls) once.onCall(call);
      expect(broken()).toEqual([]);
    },
  );
});

describe('P5: two replicas that are told to stop one after the other', () => {
  test.each([
    { name: 'cannot have told each other', backMs: 19_000, says: [] },
    { name: 'were up together for long enough', backMs: 14_000, says: ['P5'] },
    { name: 'were both up at the first call', backMs: 9000, secondMs: 10_030, says: ['P5'] },
    { name: 'of three, the third of which was up', backMs: 19_000, factor: 3, says: ['P5'] },
    { name: 'of three, the third of which was down', backMs: 19_000, factor: 3, down: 1, says: [] },
  ])('$name', async ({ backMs, secondMs = 25_000, factor = 2, down = 0, says }) => {
    const { judge, set, broken } = await court();
    const operation = await set({ factor, intervalMs: 600_000 });
    const [caller = '', other = '', ...rest] = names;
    if (down > 0)
      for (const name of rest) judge.faults.begin(name, 'down', 'a crash', 1000)(90_000);
    judge.faults.begin(other, 'down', 'told to stop', 5000)(backMs);
    judge.faults.begin(caller, 'down', 'told to stop', 18_000)(60_000);
    const once = new Once(judge);
    once.onCall(callOf(operation, caller, 10_000));
    once.onCall(callOf(operation, other, secondMs));
    expect(broken()).toEqual(says);
  });
});

describe('P5: a retry beside a duplicate of the call that failed', () => {
  test.each([
    { name: 'is explained by the fault that explains the duplicate', isPaused: true, says: [] },
    { name: 'is convicted where nothing explains the duplicate', isPaused: false, says: ['P5'] },
  ])('$name', async ({ isPaused, says }) => {
    const { judge, set, broken } = await court();
    const operation = await set({ intervalMs: 600_000 });
    const [failing = '', doubling = '', retrying = ''] = names;
    if (isPaused) judge.faults.begin(failing, 'paused', 'a pause', 11_000)(11_500);
    const once = new Once(judge);
    const failed = { effectMs: null, result: null } as const;
    once.onCall({ ...callOf(operation, failing, 10_000), ...failed, endMs: 16_000 });
    once.onCall({ ...callOf(operation, doubling, 12_000), ...failed, endMs: null });
    once.onCall(callOf(operation, retrying, 17_000));
    expect(broken()).toEqual(says);
  });
});

describe('P5: damage took the word of a pop from the member that makes it again', () => {
  const segments = { before: 'journal-0000000001.log', of: 'journal-0000000002.log' } as const;
  const everyone = { copies: 2, segment: segments.of, isOtherUp: true };

  test.each([
    { name: 'no other member ever had it', ...everyone, copies: 1, says: [] },
    { name: 'the other member that has it is down', ...everyone, isOtherUp: false, says: [] },
    { name: 'another member that runs has it', ...everyone, says: ['P5'] },
    { name: 'damage left it', ...everyone, copies: 1, segment: segments.before, says: ['P5'] },
    { name: 'its disk is whole', ...everyone, copies: 1, segment: null, says: ['P5'] },
  ])('$name', async ({ copies, segment, isOtherUp, says }) => {
    const { cluster, judge, set, holders, pass, broken } = await court();
    const operation = await set({ factor: copies, intervalMs: 20_000, count: 30 });
    await pass(25);
    const [first] = cluster.receivers.calls;
    if (first === undefined) throw new Error('The first pop was made.');
    const caller = cluster.member(first.by);
    const other = holders(operation).find((name) => name !== first.by);
    if (other !== undefined && !isOtherUp) cluster.member(other).crash(crash);
    void caller.stop();
    await pass(1);
    if (segment !== null) caller.rot([rotOf(caller, segment)]);
    const once = new Once(judge);
    once.onCall(first);
    cluster.onServes = (member) => {
      judge.returns.note(member);
      once.onCall({ ...first, startMs: judge.nowMs });
    };
    caller.start();
    await pass(1);
    expect(broken()).toEqual(says);
  });
});

describe('P6', () => {
  test('a caller that holds the cancel itself is not excused by lost messages', async () => {
    const { judge, set, cancel, holders, broken } = await court();
    const operation = await set();
    await cancel(operation);
    const [caller = ''] = holders(operation);
    judge.faults.note(caller, 'network', 'lost', judge.nowMs);
    new Sticks(judge).onCall(callOf(operation, caller, judge.nowMs));
    expect(broken()).toEqual(['P6']);
  });

  test('a caller that never heard of it is', async () => {
    const { judge, set, cancel, holders, broken } = await court();
    const operation = await set();
    await cancel(operation);
    const [caller = ''] = names.filter((name) => !holders(operation).includes(name));
    judge.faults.note(caller, 'network', 'lost', judge.nowMs);
    new Sticks(judge).onCall(callOf(operation, caller, judge.nowMs));
    expect(broken()).toEqual([]);
  });
});

describe('P8', () => {
  test('a timer that a client needed several attempts to set has all its copies', async () => {
    const { cluster, judge, set, broken } = await court();
    cluster.clientLossRatio = 1;
    cluster.world.after(2000, () => {
      cluster.clientLossRatio = 0;
    });
    const operation = await set({ factor: 4, intervalMs: 300_000 });
    expect(operation.attempts.length).toBeGreaterThan(1);
    expect(operation.ackMs).not.toBeNull();
    new ComeAndGo(judge, () => names).finish();
    expect(broken()).toEqual([]);
    new ComeAndGo(judge, () => [...names, 'm3']).finish();
    expect(broken()).toContain('P8');
  });
});

describe('copies that were destroyed', () => {
  test('a disk that was replaced excuses no timer that it never held, nor one with another copy', async () => {
    const { cluster, judge, set, holders } = await court();
    const [one, two] = [await set({ factor: 1 }), await set({ factor: 2 })];
    const [holder = ''] = holders(one);
    const bystander = names.find((name) => name !== holder) ?? '';
    judge.lostCopies.destroy(bystander, false);
    cluster.member(bystander).crash({ power: true, wipe: true });
    expect([judge.destroyed(one), judge.destroyed(two)]).toEqual([false, false]);
    judge.lostCopies.destroy(holder, false);
    expect(judge.destroyed(one)).toBe(true);
  });

  test('a timer whose only copy is destroyed before its client hears the id is excused', async () => {
    const { cluster, judge, pass, begin } = await court();
    const live = (name: string): number => cluster.member(name).member?.store.counts.live ?? 0;
    const { timer } = begin({ factor: 1 });
    while (!names.some(live)) await pass(0.0005);
    const [operation] = timer.operations;
    expect(timer.id).toBeNull();
    for (const [count, destroyed] of [
      [0, false],
      [1, true],
    ] as const) {
      const name = names.find((one) => live(one) === count) ?? '';
      judge.lostCopies.destroy(name, false);
      expect(operation === undefined ? null : judge.destroyed(operation)).toBe(destroyed);
    }
  });

  test('damage excuses a timer whose only copy is there, and a copy on the disk of a member that is down counts', async () => {
    const { cluster, judge, set, holders } = await court();
    const [one, two] = [await set({ factor: 1 }), await set({ factor: 2 })];
    const [first = '', second = ''] = holders(two);
    cluster.member(second).crash(crash);
    judge.lostCopies.damage(first);
    expect(judge.destroyed(two)).toBe(false);
    expect(judge.destroyed(one)).toBe(holders(one).includes(first));
  });
});
