/**
 * Changes that wait to be sent, first come first served.
 *
 * O1  Of the changes of one timer only the first is on its way or may be taken; the next one follows when `over` is
 *     told of it.
 */
import type { Change } from './change.ts';

export class Order {
  private ready: Change[] = [];
  /** Of each timer with a change that is ready or on its way: the changes behind it. */
  private readonly behind = new Map<string | number, Change[]>();

  /** How many may be taken. */
  get readyCount(): number {
    return this.ready.length;
  }

  add(change: Change): void {
    const { timer } = change;
    const line = timer === null ? undefined : this.behind.get(timer);
    if (line !== undefined) {
      line.push(change);
      return;
    }
    if (timer !== null) this.behind.set(timer, []);
    this.ready.push(change);
  }

  /** The first changes that fit, without aborted ones. At least one, if there is one. */
  take(limits: { readonly countMax: number; readonly bytesMax: number }): Change[] {
    const taken: Change[] = [];
    let bytes = 0;
    let at = 0;
    for (; at < this.ready.length && taken.length < limits.countMax; at++) {
      const change = this.ready[at] as Change;
      if (change.isOpen) {
        bytes += sizeOf(change);
        if (taken.length > 0 && bytes > limits.bytesMax) break;
        taken.push(change);
      } else this.over(change);
    }
    this.ready = this.ready.slice(at);
    return taken;
  }

  /** The change is not on its way any longer. */
  over({ timer }: Change): void {
    if (timer === null) return;
    const next = this.behind.get(timer)?.shift();
    if (next === undefined) this.behind.delete(timer);
    else this.ready.push(next);
  }
}

/** At most: a character takes up to three bytes. */
function sizeOf({ asked }: Change): number {
  const { name, text } = asked;
  return 3 * (name.length + (text ?? '').length) + 64;
}
