/**
 * Timers inside one process, with nothing kept anywhere and no network before the callback: the limit that a service
 * can come close to, not something to use instead.
 */
import { TimerHeap } from './heap.ts';
import { Poster } from './post.ts';
import { instantMs, payloadOf, type Recurring, type Setter, type Spec } from './setter.ts';

/** Arms a timer; the answer cancels it. */
type Arm = (dueMs: number, pop: () => void) => () => void;

export class BaselineSetter implements Setter {
  private readonly poster: Poster;
  private readonly arm: Arm;
  private readonly cancels = new Map<number, () => void>();

  constructor(kind: 'settimeout' | 'heap', uri: string) {
    this.poster = new Poster(uri);
    this.arm = kind === 'heap' ? heapArm() : timeoutArm;
  }

  async set(spec: Spec): Promise<void> {
    this.armOne(spec);
  }

  async setMany(specs: readonly Spec[]): Promise<void> {
    for (const spec of specs) this.armOne(spec);
  }

  async refresh(spec: Spec): Promise<void> {
    this.cancels.get(spec.index)?.();
    this.cancels.set(spec.index, this.armOne(spec));
  }

  async recur(recurring: Recurring): Promise<void> {
    this.armNext(recurring, recurring.firstMs);
  }

  close(): Promise<void> {
    return this.poster.close();
  }

  private armOne({ index, due }: Spec): () => void {
    const dueMs = instantMs(due);
    const payload = payloadOf(index);
    return this.arm(dueMs, () => this.post(payload, dueMs));
  }

  private armNext(recurring: Recurring, dueMs: number): void {
    const { index, firstMs, everyMs, count } = recurring;
    this.arm(dueMs, () => {
      this.post(payloadOf(index), dueMs);
      const nextMs = dueMs + everyMs;
      if (nextMs < firstMs + count * everyMs - 0.5) this.armNext(recurring, nextMs);
    });
  }

  private post(payload: string, dueMs: number): void {
    this.poster.post(payload, dueMs).catch((error: unknown) => console.error(error));
  }
}

const timeoutArm: Arm = (dueMs, pop) => {
  const timeout = setTimeout(pop, Math.max(0, dueMs - Date.now()));
  return () => clearTimeout(timeout);
};

function heapArm(): Arm {
  const heap = new TimerHeap();
  return (dueMs, pop) => {
    const entry = heap.add(dueMs, pop);
    return () => {
      entry.pop = null;
    };
  };
}
