/**
 * A nightly export that must not run twice at once: two workers get the same tick, the lock ring says which of them exports, and the
 * store that is written to compares tokens, so that not even a worker that was stopped in the middle can spoil it.
 * Needs etcd: CARILLON_ETCD=http://127.0.0.1:2379 node --conditions=source examples/nightly-export.ts
 */
import { Ring } from '@carillon/ring';

const endpoints = [process.env['CARILLON_ETCD'] ?? 'http://127.0.0.1:2379'];
const prefix = `example-${process.pid}`;
const key = 'nightly-export';

/** What the lock protects. Remembering the largest token is all that fencing takes. */
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

/** Who may lock the key; keys settle within moments after members have come or gone. */
async function ownerOf(among: typeof workers): Promise<(typeof workers)[number]> {
  for (;;) {
    for (const worker of among) {
      try {
        await using _ = await worker.ring.lock(key, { timeoutMs: 100 });
        return worker;
      } catch {
        // Not this one, or not yet.
      }
    }
  }
}

const owner = await ownerOf(workers);
const other = workers.find((worker) => worker !== owner) as typeof owner;
const first = await exportRows(owner.ring, 'the owner');
console.log(
  `the other one ${(await exportRows(other.ring, 'the other')) === null ? 'does nothing' : 'exports too'}`,
);

// The owner's process ends; the key moves, and the next night the other one exports, with a larger token.
await owner.ring.close();
await ownerOf([other]);
const second = await exportRows(other.ring, 'the other');
console.log(`the token has grown: ${first !== null && second !== null && second > first}`);
await other.ring.close();
