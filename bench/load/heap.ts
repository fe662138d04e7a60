/** A binary heap of timers with one setTimeout for the earliest: the usual way to keep many timers in one process. */

export interface HeapEntry {
  readonly dueMs: number;
  /** Null: cancelled, and dropped when it comes to the top. */
  pop: (() => void) | null;
}

/** setTimeout takes no more. */
const waitMsMax = 2 ** 31 - 1;

export class TimerHeap {
  private readonly entries: HeapEntry[] = [];
  private timeout: NodeJS.Timeout | null = null;
  private armedMs = Number.POSITIVE_INFINITY;

  add(dueMs: number, pop: () => void): HeapEntry {
    const entry: HeapEntry = { dueMs, pop };
    this.entries.push(entry);
    this.rise(this.entries.length - 1);
    if (dueMs < this.armedMs) this.arm();
    return entry;
  }

  private arm(): void {
    const [first] = this.entries;
    if (this.timeout !== null) clearTimeout(this.timeout);
    this.timeout = null;
    this.armedMs = first?.dueMs ?? Number.POSITIVE_INFINITY;
    if (first === undefined) return;
    const waitMs = Math.min(waitMsMax, Math.max(0, first.dueMs - Date.now()));
    this.timeout = setTimeout(() => this.popDue(), waitMs);
  }

  private popDue(): void {
    const nowMs = Date.now();
    for (let first = this.entries[0]; first !== undefined; first = this.entries[0]) {
      if (first.pop !== null && first.dueMs > nowMs) break;
      this.removeFirst();
      first.pop?.();
    }
    this.arm();
  }

  private removeFirst(): void {
    const last = this.entries.pop();
    if (last === undefined || this.entries.length === 0) return;
    this.entries[0] = last;
    this.sink();
  }

  private rise(from: number): void {
    const { entries } = this;
    const entry = entries[from] as HeapEntry;
    let at = from;
    while (at > 0) {
      const up = (at - 1) >> 1;
      const parent = entries[up] as HeapEntry;
      if (parent.dueMs <= entry.dueMs) break;
      entries[at] = parent;
      at = up;
    }
    entries[at] = entry;
  }

  private sink(): void {
    const { entries } = this;
    const entry = entries[0] as HeapEntry;
    let at = 0;
    for (let down = 1; down < entries.length; down = at * 2 + 1) {
      const right = entries[down + 1];
      const isRight = right !== undefined && right.dueMs < (entries[down] as HeapEntry).dueMs;
      const next = isRight ? down + 1 : down;
      const child = entries[next] as HeapEntry;
      if (child.dueMs >= entry.dueMs) break;
      entries[at] = child;
      at = next;
    }
    entries[at] = entry;
  }
}
