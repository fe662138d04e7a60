/** The smallest few of many values that come one by one, without keeping all of them. */
export class Smallest<T> {
  private readonly limit: number;
  private readonly order: (a: T, b: T) => number;
  private kept: T[] = [];
  /** Larger ones need not be kept. */
  private worst: T | null = null;

  constructor(limit: number, order: (a: T, b: T) => number) {
    this.limit = limit;
    this.order = order;
  }

  add(value: T): void {
    if (this.worst !== null && this.order(value, this.worst) >= 0) return;
    this.kept.push(value);
    if (this.kept.length < this.limit * 4) return;
    this.kept = this.all();
    this.worst = this.kept.at(-1) ?? null;
  }

  /** In order. */
  all(): T[] {
    return this.kept.toSorted(this.order).slice(0, this.limit);
  }
}
