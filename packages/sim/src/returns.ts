/**
 * Members that came back after they were down, and the live timers they brought with them: as an observer of their
 * disks knows it. That is also a timer whose client never heard of it, and set another one in its place.
 */
import { hex16, State } from '@carillon/core';
import type { SimCluster } from './sim-cluster.ts';
import type { SimMember } from './sim-member.ts';
import { numbering } from './world/numbering.ts';

interface Return {
  readonly name: string;
  readonly atMs: number;
  /** Whether its disk was damaged. */
  readonly isDamaged: boolean;
  /** Numbers of the timers that live in its store, as clients know them. */
  readonly numbers: ReadonlySet<string>;
}

/** More than any run has. */
const timersMax = 100_000;

export class Returns {
  private readonly cluster: SimCluster;
  private readonly all: Return[] = [];

  constructor(cluster: SimCluster) {
    this.cluster = cluster;
  }

  /** A member serves from this moment on. */
  note({ name, member, intact }: Pick<SimMember, 'name' | 'member' | 'intact'>): void {
    if (member === null) return;
    const { store } = member;
    const handles: number[] = [];
    store.next(null, timersMax, handles);
    const numbers = new Set<string>();
    for (const handle of handles) {
      const record = store.read(handle);
      const { hi, lo } = numbering.outside(record.namespace, record);
      if (record.state === State.live) numbers.add(hex16(hi, lo));
    }
    const { nowMs: atMs } = this.cluster.world;
    if (numbers.size > 0) this.all.push({ name, atMs, isDamaged: !intact, numbers });
  }

  /** Members that came back with the timer alive between the two moments. */
  with(number: string, fromMs: number, toMs: number): string[] {
    return this.found(number, fromMs, toMs).map(({ name }) => name);
  }

  /** Whether a member came back with the timer alive between the two moments, from a damaged disk. */
  damagedWith(number: string, fromMs: number, toMs: number): boolean {
    return this.found(number, fromMs, toMs).some(({ isDamaged }) => isDamaged);
  }

  private found(number: string, fromMs: number, toMs: number): Return[] {
    return this.all.filter(
      ({ atMs, numbers }) => atMs >= fromMs && atMs <= toMs && numbers.has(number),
    );
  }
}
