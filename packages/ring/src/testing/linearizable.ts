/**
 * Whether a recorded history is linearizable: whether each operation can be given one instant between its call and its
 * answer, so that the operations, in the order of their instants, are a run that the model allows. The search is the
 * one of Wing and Gong with Lowe's memory of the states it has been in.
 *
 *   A  grant 1 |-----|          end 1 |---|
 *   B       grant 2 |-----------------------|       order found: grant 1, end 1, grant 2
 *
 * An operation without an answer (`toMs` Infinity) may have happened at any time after its call, or never.
 */
export interface Operation<Op> {
  readonly op: Op;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Model<State, Op> {
  readonly initial: State;
  /** The state after the operation; null: the operation is not possible in this state. */
  step(state: State, op: Op): State | null;
  /** Equal for equal states, and for no others. */
  name(state: State): string;
}

/** null: linearizable. Else the longest run that the model allows; the operation after it is where to look. */
export function notLinearizable<State, Op>(
  history: readonly Operation<Op>[],
  model: Model<State, Op>,
): readonly Op[] | null {
  return new Search(history, model).run();
}

/** A call or an answer, in a list by time. An operation that was given its instant is taken out of the list. */
interface Entry {
  readonly index: number;
  readonly call: boolean;
  previous: Entry | null;
  next: Entry | null;
}

class Search<State, Op> {
  private readonly model: Model<State, Op>;
  private readonly history: readonly Operation<Op>[];
  private readonly head: Entry = { index: -1, call: false, previous: null, next: null };
  private readonly answers: (Entry | null)[] = [];
  /** Per operation, whether it has its instant; all below `low` have one, none above `high` has. */
  private readonly placed: Uint8Array;
  private low = 0;
  private high = -1;
  /** Operations with an answer that still lack their instant. */
  private answersLeft = 0;
  private readonly seen = new Set<string>();
  private readonly path: { readonly entry: Entry; readonly before: State }[] = [];
  private longest: readonly Op[] = [];
  private state: State;

  constructor(history: readonly Operation<Op>[], model: Model<State, Op>) {
    this.model = model;
    this.history = history.toSorted((a, b) => a.fromMs - b.fromMs);
    this.placed = new Uint8Array(history.length);
    this.state = model.initial;
    this.link();
  }

  run(): readonly Op[] | null {
    let entry = this.head.next;
    while (this.answersLeft > 0) {
      if (entry?.call === true) {
        entry = this.place(entry) ? this.head.next : entry.next;
        continue;
      }
      // An answer whose call has no instant yet: the last decision was wrong.
      this.keepLongest();
      const last = this.path.pop();
      if (last === undefined) return this.longest;
      this.state = last.before;
      this.unlift(last.entry);
      entry = last.entry.next;
    }
    return null;
  }

  private keepLongest(): void {
    if (this.path.length <= this.longest.length) return;
    this.longest = this.path.map(({ entry }) => (this.history[entry.index] as Operation<Op>).op);
  }

  /** Calls and answers by time; at the same time a call comes before an answer, so that the two overlap. */
  private link(): void {
    const entries: { readonly entry: Entry; readonly atMs: number }[] = [];
    this.history.forEach(({ fromMs, toMs }, index) => {
      const entry = (call: boolean): Entry => ({ index, call, previous: null, next: null });
      entries.push({ entry: entry(true), atMs: fromMs });
      const answer = toMs === Number.POSITIVE_INFINITY ? null : entry(false);
      this.answers.push(answer);
      if (answer === null) return;
      entries.push({ entry: answer, atMs: toMs });
      this.answersLeft++;
    });
    const byTime = entries.toSorted(
      (a, b) => a.atMs - b.atMs || Number(b.entry.call) - Number(a.entry.call),
    );
    let last = this.head;
    for (const { entry } of byTime) {
      last.next = entry;
      entry.previous = last;
      last = entry;
    }
  }

  /** Gives the operation the next instant, unless the model refuses or the search has been there. */
  private place(entry: Entry): boolean {
    const { op } = this.history[entry.index] as Operation<Op>;
    const after = this.model.step(this.state, op);
    if (after === null) return false;
    this.lift(entry);
    const name = `${this.placedName()} ${this.model.name(after)}`;
    if (this.seen.has(name)) {
      this.unlift(entry);
      return false;
    }
    this.seen.add(name);
    this.path.push({ entry, before: this.state });
    this.state = after;
    return true;
  }

  /**
   * A text for the set of placed operations: `low`, below which all are placed, then the numbers of the placed ones
   * above.
   */
  private placedName(): string {
    let name = String(this.low);
    for (let i = this.low + 1; i <= this.high; i++) if (this.placed[i] === 1) name += `,${i}`;
    return name;
  }

  private lift(entry: Entry): void {
    unlink(entry);
    const answer = this.answers[entry.index] ?? null;
    if (answer !== null) {
      unlink(answer);
      this.answersLeft--;
    }
    this.placed[entry.index] = 1;
    this.high = Math.max(this.high, entry.index);
    while (this.placed[this.low] === 1) this.low++;
  }

  private unlift(entry: Entry): void {
    const answer = this.answers[entry.index] ?? null;
    if (answer !== null) {
      relink(answer);
      this.answersLeft++;
    }
    relink(entry);
    this.placed[entry.index] = 0;
    this.low = Math.min(this.low, entry.index);
  }
}

function unlink(entry: Entry): void {
  if (entry.previous !== null) entry.previous.next = entry.next;
  if (entry.next !== null) entry.next.previous = entry.previous;
}

/** Undoes `unlink`; entries come back in the opposite order of their leaving. */
function relink(entry: Entry): void {
  if (entry.previous !== null) entry.previous.next = entry;
  if (entry.next !== null) entry.next.previous = entry;
}
