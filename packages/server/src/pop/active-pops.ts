/**
 * The pops under way at this member, at most one for each timer, by the handle of its record. The only file that
 * changes the phase of a pop.
 */
import { invariant } from '@carillon/core';
import type { Pop } from './pop.ts';
import { isOut, isUnderWay, type PopAction, type PopEvent, popStep } from './pop-phase.ts';

export class ActivePops {
  private readonly byHandle = new Map<number, Pop>();

  get size(): number {
    return this.byHandle.size;
  }

  /** Pops that fell due and whose callback has not begun. */
  get waitingCount(): number {
    let waiting = 0;
    for (const { phase } of this.byHandle.values()) if (!isOut(phase)) waiting++;
    return waiting;
  }

  get(handle: number): Pop | undefined {
    return this.byHandle.get(handle);
  }

  has(handle: number): boolean {
    return this.byHandle.has(handle);
  }

  add(pop: Pop): void {
    invariant(!this.byHandle.has(pop.handle), 'a timer has one pop at a time');
    this.byHandle.set(pop.handle, pop);
  }

  /** Moves the pop to its next phase; the action that goes with it is left to the caller. */
  step(pop: Pop, event: PopEvent): PopAction {
    const step = popStep(pop.phase, event);
    // By index: taking the pair apart goes through an iterator, on the way of every pop.
    const next = step[0];
    const action = step[1];
    if (isUnderWay(pop.phase) && !isUnderWay(next)) this.byHandle.delete(pop.handle);
    pop.phase = next;
    if (!isOut(next) || action === 'stop-renewing') pop.stopRenewing();
    return action;
  }
}
