/** Members that came back after they were down, and the live timers they brought with them: as an observer of their disks knows it. */
import { State } from '@carillon/core';
import { type History, keptUnder, numberOf } from './history.ts';
import type { SimCluster } from './sim-cluster.ts';
import type { SimMember } from './sim-member.ts';

interface Return {
  readonly name: string;
  readonly atMs: number;
  /** Numbers of the timers that live in its store. */
  readonly numbers: ReadonlySet<string>;
}

export class Returns {
  private readonly cluster: SimCluster;
  private readonly history: History;
  private readonly all: Return[] = [];

  constructor(cluster: SimCluster, history: History) {
    this.cluster = cluster;
    this.history = history;
  }

  /** A member serves from this moment on. */
  note({ name, member }: Pick<SimMember, 'name' | 'member'>): void {
    if (member === null) return;
    const held = this.history.timers.filter((timer) => {
      if (timer.id === null) return false;
      const { hi, lo } = keptUnder(timer);
      return member.store.get(hi, lo)?.state === State.live;
    });
    const numbers = new Set(held.map(numberOf));
    if (numbers.size > 0) this.all.push({ name, atMs: this.cluster.world.nowMs, numbers });
  }

  /** Members that came back with the timer alive between the two moments. */
  with(number: string, fromMs: number, toMs: number): string[] {
    return this.all
      .filter(({ atMs, numbers }) => atMs >= fromMs && atMs <= toMs && numbers.has(number))
      .map(({ name }) => name);
  }
}
