/**
 * The first moments of a member that takes its view from etcd. After etcd was away all members lose their places in it,
 * and one that starts just then is shown before the others are back: meanwhile the view has fewer members than there
 * are.
 */
import type { Cancel, Clock } from '@carillon/core';
import type { View } from './view.ts';

/** Longer than members take to be shown again once etcd answers. */
const rejoinMs = 2500;

export class Rejoining {
  private readonly clock: Clock;
  private startedMs = 0;
  private cancel: Cancel = () => {};

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** The member starts now. */
  start(): void {
    this.startedMs = this.clock.now();
  }

  stop(): void {
    this.cancel();
  }

  /** Whether one of these members is not in the view and may be shown any moment. */
  awaits(view: View, names: readonly string[]): boolean {
    return this.isUnsettled(view) && names.some((name) => view.member(name) === undefined);
  }

  /** Calls `fn` when the view has settled; only the last one, when there are several. */
  settled(view: View, fn: () => void): void {
    this.cancel();
    if (this.isUnsettled(view)) this.cancel = this.clock.at(this.startedMs + rejoinMs, fn);
    else fn();
  }

  /** Whether members may be missing from the view that are there. */
  isUnsettled(view: View): boolean {
    return view.source === 'etcd' && this.clock.now() < this.startedMs + rejoinMs;
  }
}
