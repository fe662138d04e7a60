/**
 * Which timers lost their last copy for good, as an observer of all stores and disks knows it. A copy is destroyed when
 * its disk is replaced, its machine never comes back, or its program ends and kept it in memory only; it may be
 * destroyed while its disk is damaged. Checkers excuse a timer only if no other member had a copy at that moment.
 */
import { decodeDefinition, State } from '@carillon/core';
import type { Member } from '@carillon/server/internal';
import { holds } from './checkers/holders.ts';
import type { History, Operation } from './history.ts';
import type { SimCluster } from './sim-cluster.ts';

/** How often the copies are looked at while a disk is damaged. */
const lookMs = 1000;

export class LostCopies {
  private readonly cluster: SimCluster;
  private readonly history: History;
  private readonly lost = new Set<Operation>();
  private readonly lettersLost = new Set<Operation>();
  /** Members whose machines never come back. */
  private readonly gone = new Set<string>();

  constructor(cluster: SimCluster, history: History) {
    this.cluster = cluster;
    this.history = history;
  }

  has(operation: Operation): boolean {
    return this.lost.has(operation);
  }

  /** Whether the last copy of a dead letter of the timer was destroyed. */
  hasLetterOf(operation: Operation): boolean {
    return this.lettersLost.has(operation);
  }

  /** The copies of a member that runs are destroyed at this moment; `stays`: the member does not come back. */
  destroy(name: string, stays: boolean): void {
    this.look(name);
    if (stays) this.gone.add(name);
  }

  /** The disk of a member was damaged at this moment: until it is whole again, its copies count for nothing. */
  damage(name: string): void {
    this.look(name);
    const { world } = this.cluster;
    const again = (): void => {
      if (this.cluster.member(name).intact) return;
      this.look(name);
      world.after(lookMs, again);
    };
    world.after(lookMs, again);
  }

  /** An answer came after all: copies that were made meanwhile count. */
  onAck(operation: Operation): void {
    if (this.lost.has(operation) && this.others('', operation)) this.lost.delete(operation);
  }

  private look(name: string): void {
    const held = this.cluster.member(name).last;
    if (held === null) return;
    for (const { operations } of this.history.timers) {
      for (const operation of operations) {
        if (holds(held, operation) && !this.others(name, operation)) this.lost.add(operation);
      }
    }
    this.lookByOpaque(name, held);
  }

  /** Finds dead letters, and timers of which the client has not heard the id yet. */
  private lookByOpaque(name: string, held: Member): void {
    const next = held.store.records();
    for (let record = next(); record !== undefined; record = next()) {
      if (record.state === State.tombstone) continue;
      const { origin, opaque } = decodeDefinition(record.body);
      const operation = this.history.find(opaque);
      if (operation === null || (origin === null && operation.timer.id !== null)) continue;
      const { hi, lo } = record;
      if (this.lasting(name).some(({ store }) => store.get(hi, lo) !== undefined)) continue;
      (origin === null ? this.lost : this.lettersLost).add(operation);
    }
  }

  /**
   * Whether a member besides `name` surely has a copy that lasts: before the answer came, it is unknown which version
   * that is.
   */
  private others(name: string, operation: Operation): boolean {
    if (operation.version === null) return false;
    return this.lasting(name).some((member) => holds(member, operation));
  }

  /** Members besides `name` whose copies last: they run, or their disks are whole. */
  private lasting(name: string): Member[] {
    return [...this.cluster.members.values()].flatMap((place) => {
      const counts = place.name !== name && !this.gone.has(place.name) && place.intact;
      return counts && place.last !== null ? [place.last] : [];
    });
  }
}
