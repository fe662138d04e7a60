/**
 * A writer that comes back too late, and a store that refuses it. Run it: node --conditions=source
 * examples/lock-fencing.ts
 *
 * No etcd is needed: the ring runs on the simulated one, and time is virtual. With a real etcd it is `Ring.open({
 * endpoints, prefix })`, and the rest stays the same.
 */
import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { Ring } from '@carillon/ring';
import { SimulatedEtcd } from '@carillon/ring/testing';

/** The store that the lock protects. It remembers the largest token it has seen; that is all fencing takes. */
class Store {
  value = '';
  private tokenMax = 0n;

  write(token: bigint, value: string): string {
    if (token < this.tokenMax) return `refused: ${value} (a newer holder has written)`;
    this.tokenMax = token;
    this.value = value;
    return `written: ${value}`;
  }
}

const clock = new VirtualClock();
const etcd = new SimulatedEtcd({ clock });
const open = (seed: number, client = etcd.connect()) =>
  Ring.open({ etcd: client, clock, random: new SeededRandom(seed), prefix: 'example' });

/** Lets virtual time pass until the promise settles. */
async function settled<T>(promise: Promise<T>): Promise<T> {
  const state = { done: false };
  const mark = () => (state.done = true);
  promise.then(mark, mark);
  while (!state.done) await clock.advance(10);
  return promise;
}

const store = new Store();
const clientOfA = etcd.connect();
const a = await settled(open(1, clientOfA));
await settled(a.addMember('a'));
const lockOfA = await settled(a.lock('report'));
console.log(store.write(lockOfA.token, 'from A'));

// A is cut off from etcd. Its lock is lost before anybody else can have it; code that listens stops here.
lockOfA.lost.addEventListener('abort', () => console.log('A knows: the lock is lost'));
clientOfA.cut = true;
const b = await settled(open(2));
await settled(b.addMember('b'));
const lockOfB = await settled(b.lock('report'));
console.log(store.write(lockOfB.token, 'from B'));

// A did not listen, or was stopped between its check and its write. The token tells.
console.log(store.write(lockOfA.token, 'from A, late'));
console.log(`the store holds "${store.value}"`);
