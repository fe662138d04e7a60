/** The contract of the etcd port (E1–E5 of `etcd.ts`), run on the real client and on the simulated etcd. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Change, type Etcd, EtcdError, type Operation, txnOperationsMax } from './etcd.ts';

export interface EtcdSubject {
  /** A new client. */
  connect(): Etcd;
  /** Runs the world until the promise settles. */
  settled<T>(promise: Promise<T>): Promise<T>;
  /** Lets time pass. */
  pass(ms: number): Promise<void>;
  /** Forgets the history up to now. */
  compact(): Promise<void>;
}

const limitMs = 5000;
let unique = 0;

export function etcdContract(name: string, subject: () => EtcdSubject): void {
  describe(`etcd port: ${name}`, () => {
    let etcd: Etcd;
    let p: string;
    const settled = <T>(promise: Promise<T>): Promise<T> => subject().settled(promise);
    const run = (success: readonly Operation[]) =>
      settled(etcd.txn({ when: [], success, failure: [] }, limitMs));
    const put = (key: string, value: string, lease = 0n) => run([{ put: key, value, lease }]);

    beforeEach(() => {
      etcd = subject().connect();
      p = `contract-${unique++}/`;
    });

    afterEach(() => etcd.close());

    test('range gives exactly the keys under the prefix, sorted, at a revision not before the last write', async () => {
      const { revision } = await put(`${p}b`, 'zwei ✓');
      await put(`${p}a`, 'one');
      await put(`${p.slice(0, -1)}0`, 'next door');
      const answer = await settled(etcd.range(p, limitMs));
      expect(answer.entries.map(({ key, value }) => [key, value])).toEqual([
        [`${p}a`, 'one'],
        [`${p}b`, 'zwei ✓'],
      ]);
      expect(answer.entries[1]).toMatchObject({ modRevision: revision, createRevision: revision });
      expect(answer.revision).toBeGreaterThan(revision);
    });

    test('a transaction runs one branch; absence and revisions can be required', async () => {
      const key = `${p}k`;
      const claim = {
        when: [{ key, createRevision: 0 }],
        success: [{ put: key, value: '1', lease: 0n }],
        failure: [{ get: key }, { get: `${p}none` }],
      };
      const first = await settled(etcd.txn(claim, limitMs));
      expect(first).toMatchObject({ succeeded: true, found: [] });
      const second = await settled(etcd.txn(claim, limitMs));
      expect(second.succeeded).toBe(false);
      expect(second.found).toMatchObject([{ value: '1', modRevision: first.revision }, null]);
      const wrong = {
        when: [{ key, modRevision: first.revision - 1 }],
        success: [{ remove: key }],
      };
      expect((await settled(etcd.txn({ ...wrong, failure: [] }, limitMs))).succeeded).toBe(false);
      const right = { when: [{ key, modRevision: first.revision }], success: [{ remove: key }] };
      expect((await settled(etcd.txn({ ...right, failure: [] }, limitMs))).succeeded).toBe(true);
      expect((await settled(etcd.range(p, limitMs))).entries).toEqual([]);
    });

    test('a key that is made again has a new create revision, a changed one only a new mod revision', async () => {
      const made = await put(`${p}k`, '1');
      const changed = await put(`${p}k`, '2');
      const [entry] = (await settled(etcd.range(p, limitMs))).entries;
      expect(entry).toMatchObject({
        createRevision: made.revision,
        modRevision: changed.revision,
      });
      await run([{ remove: `${p}k` }]);
      const again = await put(`${p}k`, '3');
      const [newer] = (await settled(etcd.range(p, limitMs))).entries;
      expect(newer?.createRevision).toBe(again.revision);
    });

    test(`${txnOperationsMax} operations fit into one transaction, one more is refused`, async () => {
      const puts = Array.from({ length: txnOperationsMax }, (_, i) => ({
        put: `${p}${i}`,
        value: '',
        lease: 0n,
      }));
      await run(puts);
      expect((await settled(etcd.range(p, limitMs))).entries).toHaveLength(txnOperationsMax);
      const more = [...puts, { put: `${p}x`, value: '', lease: 0n }];
      await expect(run(more)).rejects.toMatchObject({ kind: 'refused' });
    });

    test('keys under a lease go with it, in one revision', async () => {
      const id = BigInt(1_000_000 + unique);
      const ttlMs = await settled(etcd.grantLease(id, 2000, limitMs));
      expect(ttlMs).toBeGreaterThanOrEqual(2000);
      await put(`${p}a`, '', id);
      await put(`${p}b`, '', id);
      expect(await settled(etcd.keepAlive(id, `${p}a`, limitMs))).toBe(ttlMs);
      const watched = watch(p, (await settled(etcd.range(p, limitMs))).revision + 1);
      await subject().pass(50);
      await settled(etcd.revokeLease(id, limitMs));
      await until(() => watched.changes.length >= 2);
      const revisions = watched.changes.map(
        (change) => change.kind === 'delete' && change.revision,
      );
      expect(new Set(revisions).size).toBe(1);
      expect((await settled(etcd.range(p, limitMs))).entries).toEqual([]);
      watched.cancel();
    });

    test('a lease that is not renewed ends by itself, not before its time', async () => {
      const id = BigInt(2_000_000 + unique);
      const ttlMs = await settled(etcd.grantLease(id, 1000, limitMs));
      await put(`${p}a`, '', id);
      await subject().pass(ttlMs * 0.6);
      expect((await settled(etcd.range(p, limitMs))).entries).toHaveLength(1);
      await subject().pass(ttlMs * 0.4 + 2500);
      expect((await settled(etcd.range(p, limitMs))).entries).toEqual([]);
    });

    test('a lease that does not exist: no keepalive, no write, but revoking it is fine', async () => {
      const id = BigInt(3_000_000 + unique);
      await expect(settled(etcd.keepAlive(id, `${p}a`, limitMs))).rejects.toMatchObject({
        kind: 'lease-gone',
      });
      await expect(put(`${p}a`, '', id)).rejects.toMatchObject({ kind: 'lease-gone' });
      await settled(etcd.revokeLease(id, limitMs));
    });

    test('the same lease id cannot be granted twice', async () => {
      const id = BigInt(4_000_000 + unique);
      await settled(etcd.grantLease(id, 2000, limitMs));
      const again = settled(etcd.grantLease(id, 2000, limitMs));
      await expect(again).rejects.toMatchObject({ kind: 'refused' });
      await settled(etcd.revokeLease(id, limitMs));
    });

    test('a watch tells every change from its revision on, in order, the past included', async () => {
      const { revision } = await put(`${p}a`, '1');
      await put(`${p}b`, '2');
      const watched = watch(p, revision);
      await until(() => watched.opened && watched.changes.length >= 2);
      await put(`${p}a`, '3');
      await put(`${p.slice(0, -1)}0`, 'next door');
      await run([{ remove: `${p}b` }]);
      await until(() => watched.changes.length >= 4);
      await subject().pass(50);
      const told = watched.changes.map((change) =>
        change.kind === 'put' ? `${change.entry.key}=${change.entry.value}` : `-${change.key}`,
      );
      expect(told).toEqual([`${p}a=1`, `${p}b=2`, `${p}a=3`, `-${p}b`]);
      expect(watched.ends).toEqual([]);
      watched.cancel();
    });

    test('a watch from a compacted revision ends and says so', async () => {
      const { revision } = await put(`${p}a`, '1');
      await put(`${p}a`, '2');
      await put(`${p}a`, '3');
      await subject().compact();
      const watched = watch(p, revision);
      await until(() => watched.ends.length > 0);
      expect(watched.ends).toEqual(['compacted']);
      expect(watched.changes).toEqual([]);
    });

    test('a cancelled watch says nothing more', async () => {
      const { revision } = await put(`${p}a`, '1');
      const watched = watch(p, revision + 1);
      await until(() => watched.opened);
      watched.cancel();
      await put(`${p}a`, '2');
      await subject().pass(100);
      expect(watched.changes).toEqual([]);
      expect(watched.ends).toEqual([]);
    });

    test('after close every call is refused as not sent', async () => {
      await etcd.close();
      const range = etcd.range(p, limitMs);
      await expect(range).rejects.toThrow(EtcdError);
      await expect(range).rejects.toMatchObject({ kind: 'not-sent' });
    });

    function watch(prefix: string, fromRevision: number) {
      const seen = {
        changes: [] as Change[],
        ends: [] as string[],
        opened: false,
        cancel: () => {},
      };
      seen.cancel = etcd.watch(prefix, fromRevision, {
        onOpen: () => {
          seen.opened = true;
        },
        onChanges: (_revision, changes) => seen.changes.push(...changes),
        onEnd: (error) => seen.ends.push(error.kind),
      });
      return seen;
    }

    async function until(condition: () => boolean): Promise<void> {
      for (let i = 0; i < 500 && !condition(); i++) await subject().pass(10);
      expect(condition()).toBe(true);
    }
  });
}
