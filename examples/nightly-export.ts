/**
 * A nightly export that must not run twice at once: two workers get the same tick, the lock ring says which of them
 * exports, and the store that is written to compares tokens, so that not even a worker that was stopped in the middle
 * can spoil it. Needs etcd: CARILLON_ETCD=http://127.0.0.1:2379 node --conditions=source examples/nightly-export.ts
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Ring } from '@carillon/ring';

const endpoints = [process.env['CARILLON_ETCD'] ?? 'http://127.0.0.1:2379'];
const prefix = `example-${process.pid}`;
const key = 'nightly-export';

/** The store that the lock protects. Remembering the largest token is all that fencing takes. */
const store = {
  tokenMax: 0n,
  write(token: bigint, rows: string): void {
    if (token < this.tokenMax) throw new Error(`${rows}: a newer holder has written`);
    this.tokenMax = token;
  },
};

/** On each tick every worker tries; the one that the key belongs to gets the lock. */
async function exportRows(ring: Ring, name: string): Promise<bigint | null> {
  await using lock = ring.tryLock(key);
  if (lock === null) return null;
  for (const rows of ['accounts', 'orders']) {
    // `lost` fires before anybody else can have the lock; a long export looks at it between steps.
    lock.lost.throwIfAborted();
    store.write(lock.token, rows);
    console.log(`${name} writes ${rows}`);
  }
  return lock.token;
}

const workers = await Promise.all(
  ['worker-1', 'worker-2'].map(async (name) => {
    const ring = await Ring.open({ endpoints, prefix });
    await ring.addMember(name);
    return { name, ring };
  }),
);

// Both have heard of both: from here on they agree whose the key is.
const activeCount = ({ view }: Ring): number =>
  view.members.filter(({ phase }) => phase === 'active').length;
while (workers.some(({ ring }) => activeCount(ring) < workers.length)) await pause(20);
const isOwner = ({ name, ring }: (typeof workers)[number]): boolean => ring.ownerOf(key) === name;
const [owner, other] = workers.toSorted((a, b) => Number(isOwner(b)) - Number(isOwner(a)));
if (owner === undefined || other === undefined) throw new Error('Two workers are needed.');

/** Waits for the key instead of trying: it is there moments after members have come or gone. */
const arrival = (ring: Ring): Promise<void> => ring.withLock(key, () => {});

await arrival(owner.ring);
const first = await exportRows(owner.ring, 'the owner');
console.log(
  `the other one ${(await exportRows(other.ring, 'the other')) === null ? 'does nothing' : 'exports too'}`,
);

// The owner's process ends; the key moves, and the next night the other one exports, with a larger token.
await owner.ring.close();
await arrival(other.ring);
const second = await exportRows(other.ring, 'the other');
console.log(`the token has grown: ${first !== null && second !== null && second > first}`);
await other.ring.close();
