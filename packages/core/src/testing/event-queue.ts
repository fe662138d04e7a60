/** Planned events in order of their time, then in the order they were planned: a binary heap, the earliest first. */
export interface PlannedEvent {
  readonly atMs: number;
  readonly order: number;
  /** null: taken back. */
  fn: (() => void) | null;
}

export class EventQueue {
  private order = 0;
  private readonly heap: PlannedEvent[] = [];

  get first(): PlannedEvent | undefined {
    return this.heap[0];
  }

  plan(atMs: number, fn: () => void): PlannedEvent {
    const { heap } = this;
    const event: PlannedEvent = { atMs, order: this.order++, fn };
    let i = heap.length;
    heap.push(event);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!before(event, heap[parent] as PlannedEvent)) break;
      heap[i] = heap[parent] as PlannedEvent;
      i = parent;
    }
    heap[i] = event;
    return event;
  }

  removeFirst(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let i = 0;
    for (let child = 1; child < heap.length; child = 2 * i + 1) {
      const right = child + 1;
      if (right < heap.length && before(heap[right] as PlannedEvent, heap[child] as PlannedEvent))
        child = right;
      if (!before(heap[child] as PlannedEvent, last)) break;
      heap[i] = heap[child] as PlannedEvent;
      i = child;
    }
    heap[i] = last;
  }
}

function before(a: PlannedEvent, b: PlannedEvent): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
