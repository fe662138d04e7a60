import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { MemberTakenError, NotLocalError } from './errors.ts';
import { Membership, type MemberEvent } from './membership.ts';
import { KeptLog } from './testing/kept-log.ts';
import { type SimulatedClient, SimulatedEtcd } from './testing/simulated-etcd.ts';

let clock: VirtualClock;
let etcd: SimulatedEtcd;
let log: KeptLog;
let seed = 0;

beforeEach(() => {
  clock = new VirtualClock();
  etcd = new SimulatedEtcd({ clock });
  log = new KeptLog();
});

/** Runs the clock until the promise settles. */
function settled<T>(promise: Promise<T>): Promise<T> {
  return clock.settled(promise);
}

async function open(): Promise<{ membership: Membership; client: SimulatedClient }> {
  const client = etcd.connect();
  const membership = await settled(
    Membership.open({ etcd: client, clock, random: new SeededRandom(seed++), log, prefix: 'p/' }),
  );
  return { membership, client };
}

function ids(membership: Membership): string[] {
  return membership.view.members.map((member) => member.id);
}

describe('membership: views', () => {
  test('two processes see each other come and go, and both views become equal', async () => {
    const a = await open();
    const b = await open();
    const seen: string[] = [];
    b.membership.on('member', ({ kind, member }: MemberEvent) => seen.push(`${kind} ${member.id}`));
    await settled(a.membership.join('a', { address: '10.0.0.1:7253', labels: { zone: 'x' } }));
    await settled(b.membership.join('b'));
    await clock.advance(100);
    expect(ids(a.membership)).toEqual(['a', 'b']);
    expect(ids(b.membership)).toEqual(['a', 'b']);
    expect(b.membership.view.members[0]).toMatchObject({
      address: '10.0.0.1:7253',
      labels: { zone: 'x' },
      phase: 'active',
      weight: 1,
    });
    await settled(a.membership.leave('a'));
    await clock.advance(100);
    expect(ids(b.membership)).toEqual(['b']);
    expect(seen).toEqual(['joined a', 'joined b', 'left a']);
  });

  test('the own member is in the view when join resolves', async () => {
    const { membership } = await open();
    await settled(membership.join('a'));
    expect(ids(membership)).toEqual(['a']);
  });

  test('a change of the own record reaches the others', async () => {
    const a = await open();
    const b = await open();
    const member = await settled(a.membership.join('a', { phase: 'joining' }));
    const { incarnation } = member;
    await settled(member.update({ phase: 'active', weight: 3 }));
    await clock.advance(100);
    expect(b.membership.view.members).toMatchObject([{ phase: 'active', weight: 3, incarnation }]);
  });

  test('a watch that is cut off while history is compacted is followed by a full read', async () => {
    const a = await open();
    const b = await open();
    await settled(a.membership.join('a'));
    b.client.cut = true;
    await settled(a.membership.join('a2'));
    await settled(a.membership.leave('a'));
    etcd.compact();
    await clock.advance(5000);
    expect(ids(b.membership)).toEqual(['a']);
    b.client.cut = false;
    // A read that was already under way when the line came back has to give up first.
    await clock.advance(3000);
    expect(ids(b.membership)).toEqual(['a2']);
  });

  test('a record that no member wrote is reported and left out', async () => {
    const { membership, client } = await open();
    for (const [key, value] of [
      ['p/m/x', 'not json'],
      ['p/m/y', '{"phase":"flying","weight":1}'],
      ['p/m/z', '{"phase":"active","weight":-1}'],
      ['p/m/%E0%A4', '{"phase":"active","weight":1}'],
    ] as const) {
      const put = { put: key, value, lease: 0n };
      await settled(client.txn({ when: [], success: [put], failure: [] }, 1000));
    }
    await clock.advance(100);
    expect(ids(membership)).toEqual([]);
    expect(log.lines).toHaveLength(4);
  });
});

describe('membership: leases', () => {
  test('a dead member leaves the view when its lease ends, not before', async () => {
    const a = await open();
    const b = await open();
    await settled(a.membership.join('a'));
    await clock.advance(20_000);
    expect(ids(b.membership)).toEqual(['a']);
    a.client.cut = true;
    await clock.advance(3700);
    expect(ids(b.membership)).toEqual(['a']);
    await clock.advance(1400);
    expect(ids(b.membership)).toEqual([]);
  });

  test('a member that is cut off knows it at least 500 ms before etcd can drop it, and rejoins', async () => {
    const a = await open();
    const member = await settled(a.membership.join('a'));
    const first = member.incarnation;
    const lost: { reason: string; record: boolean }[] = [];
    a.membership.on('lost', ({ reason }) =>
      lost.push({ reason, record: etcd.store.entries.has('p/m/a') }),
    );
    a.client.cut = true;
    for (let i = 0; i < 5000 && lost.length === 0; i++) await clock.advance(1);
    expect(lost).toEqual([{ reason: 'cut-off', record: true }]);
    expect(member.remainingMs()).toBeLessThanOrEqual(0);
    const [lease] = etcd.store.leases.values();
    expect((lease?.expiresAtMs ?? 0) - clock.now()).toBeGreaterThanOrEqual(500);
    a.client.cut = false;
    await clock.advance(3000);
    expect(member.incarnation).toBeGreaterThan(first);
    expect(member.remainingMs()).toBeGreaterThan(3000);
    expect(ids(a.membership)).toEqual(['a']);
    expect(etcd.store.leases.size).toBe(1);
  });

  test('time that only the wall clock counted (a suspended machine) ends the lease too, and the member comes back', async () => {
    const { membership } = await open();
    const member = await settled(membership.join('a'));
    const reasons: string[] = [];
    membership.on('lost', ({ reason }) => reasons.push(reason));
    expect(member.remainingMs()).toBeGreaterThan(4000);
    clock.wallOffsetMs += 10_000;
    expect(member.remainingMs()).toBeLessThanOrEqual(0);
    clock.wallOffsetMs -= 60_000;
    expect(member.remainingMs()).toBeLessThanOrEqual(0);
    await clock.advance(1000);
    expect(reasons).toEqual(['cut-off']);
    expect(member.remainingMs()).toBeGreaterThan(0);
  });

  test('a record deleted by another client is a loss at once, and the member comes back', async () => {
    const { membership, client } = await open();
    const member = await settled(membership.join('a'));
    const reasons: string[] = [];
    membership.on('lost', ({ reason }) => reasons.push(reason));
    await settled(client.txn({ when: [], success: [{ remove: 'p/m/a' }], failure: [] }, 1000));
    await clock.advance(5);
    expect(reasons).toEqual(['removed']);
    await clock.advance(1000);
    expect(member.remainingMs()).toBeGreaterThan(0);
    expect(ids(membership)).toEqual(['a']);
  });

  test('a revoked lease is a loss at once', async () => {
    const { membership } = await open();
    await settled(membership.join('a'));
    const reasons: string[] = [];
    membership.on('lost', ({ reason }) => reasons.push(reason));
    const [lease] = etcd.store.leases.keys();
    etcd.store.revoke(lease as bigint);
    await clock.advance(5);
    expect(reasons).toEqual(['removed']);
  });

  test('etcd away for less than the TTL loses nothing', async () => {
    const { membership } = await open();
    const member = await settled(membership.join('a'));
    const reasons: string[] = [];
    membership.on('lost', ({ reason }) => reasons.push(reason));
    await clock.advance(10_000);
    etcd.away = true;
    await clock.advance(2500);
    etcd.away = false;
    await clock.advance(10_000);
    expect(reasons).toEqual([]);
    expect(member.remainingMs()).toBeGreaterThan(0);
  });
});

describe('membership: own members', () => {
  test('the same id again in this process is the member that is there', async () => {
    const { membership } = await open();
    const member = await settled(membership.join('a'));
    expect(await settled(membership.join('a'))).toBe(member);
    expect(etcd.store.leases.size).toBe(1);
  });

  test('an id alive elsewhere is refused and leaves no lease behind', async () => {
    const a = await open();
    const b = await open();
    await settled(a.membership.join('a'));
    await expect(settled(b.membership.join('a'))).rejects.toThrow(MemberTakenError);
    await clock.advance(100);
    expect(etcd.store.leases.size).toBe(1);
  });

  test('a restart under the old id waits for the dead record to go', async () => {
    const a = await open();
    const b = await open();
    await settled(a.membership.join('a'));
    a.client.cut = true;
    const member = await settled(b.membership.join('a', {}, 6000));
    expect(member.remainingMs()).toBeGreaterThan(0);
  });

  test.each([100, 1000, 2900])(
    'a restart under the old id waits anew when etcd was away after %d ms: etcd lets leases begin anew when it is back',
    async (afterMs) => {
      const a = await open();
      const b = await open();
      await settled(a.membership.join('a'));
      a.client.cut = true;
      const joined = b.membership.join('a', {}, 6000);
      joined.catch(() => {});
      await clock.advance(afterMs);
      etcd.away = true;
      await clock.advance(3000);
      etcd.away = false;
      const member = await settled(joined);
      expect(member.remainingMs()).toBeGreaterThan(0);
    },
  );

  test('only an own member can leave', async () => {
    const a = await open();
    const b = await open();
    await settled(a.membership.join('a'));
    await expect(b.membership.leave('a')).rejects.toThrow(NotLocalError);
    expect(etcd.store.entries.has('p/m/a')).toBe(true);
  });

  test('a join whose answer is lost leaves nothing behind and works the next time', async () => {
    const { membership, client } = await open();
    client.answerLossRatio = 1;
    await expect(settled(membership.join('a'))).rejects.toThrow('no answer');
    client.answerLossRatio = 0;
    await clock.advance(10_000);
    expect(etcd.store.entries.size).toBe(0);
    expect(etcd.store.leases.size).toBe(0);
    await settled(membership.join('a'));
    expect(ids(membership)).toEqual(['a']);
  });

  test('close leaves neither record nor lease nor alarm', async () => {
    const { membership, client } = await open();
    await settled(membership.join('a'));
    await settled(membership.join('b'));
    await settled(membership.close());
    await settled(client.close());
    await clock.advance(5000);
    expect(etcd.store.entries.size).toBe(0);
    expect(etcd.store.leases.size).toBe(0);
    expect(clock.nextMs()).toBeNull();
  });

  test('ids and records that cannot be are refused with a sentence', async () => {
    const { membership } = await open();
    await expect(membership.join('')).rejects.toThrow('1 to 256 characters');
    await expect(membership.join('a', { weight: Number.NaN })).rejects.toThrow('must be 0 or more');
    await expect(membership.join('a', { address: 'x'.repeat(20_000) })).rejects.toThrow('bytes');
    expect(membership.local.size).toBe(0);
  });
});
