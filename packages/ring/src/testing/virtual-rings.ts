/** Rings on one simulated etcd in virtual time, each as a process of its own. */
import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { Ring, type RingOptions } from '../ring.ts';
import { KeptLog } from './kept-log.ts';
import { type SimulatedClient, SimulatedEtcd } from './simulated-etcd.ts';

export interface OpenedRing {
  readonly ring: Ring;
  readonly client: SimulatedClient;
}

export class VirtualRings {
  readonly clock = new VirtualClock();
  readonly etcd = new SimulatedEtcd({ clock: this.clock });
  readonly log = new KeptLog();
  private seed = 0;

  /** Lets time pass until the promise is settled. */
  settled<T>(promise: Promise<T>): Promise<T> {
    return this.clock.settled(promise);
  }

  async open(options: Partial<RingOptions> = {}): Promise<OpenedRing> {
    const { clock, etcd, log } = this;
    const client = etcd.connect();
    const random = new SeededRandom(this.seed++);
    const shared = { etcd: client, clock, random, log, prefix: 'p', slots: 64, drainMs: 3000 };
    return { ring: await this.settled(Ring.open({ ...shared, ...options })), client };
  }

  async openWith(id: string, options: Partial<RingOptions> = {}): Promise<OpenedRing> {
    const opened = await this.open(options);
    await this.settled(opened.ring.addMember(id));
    await this.clock.advance(50);
    return opened;
  }
}

/** A key that placement gives to `id`. */
export function keyOf(ring: Ring, id: string): string {
  for (let i = 0; ; i++) if (ring.ownerOf(`key-${i}`) === id) return `key-${i}`;
}
