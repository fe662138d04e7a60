/**
 * The fields that many records have in common, kept once: namespace, factor and replicas. There are few distinct
 * combinations, so a record holds a small number instead. Counted, because views change and old combinations must not
 * pile up.
 */
import { invariant } from '@carillon/core';

/** A number from a snapshot lies at most this far above the highest number in use. */
const wishedAheadMax = 4096;

/** Up to so many combinations are compared one by one. */
const comparedCountMax = 16;

export interface Combination {
  readonly namespace: string;
  readonly factor: number;
  readonly replicas: readonly string[];
}

interface Counted extends Combination {
  readonly key: string;
  count: number;
}

export class SharedFields {
  private readonly shared: (Counted | undefined)[] = [];
  private readonly byKey = new Map<string, number>();
  private readonly freeIds: number[] = [];
  /** The combination taken last: the next record often has the same. */
  private latest = -1;

  /** The number of the combination, counted once more. */
  take(combination: Combination): number {
    this.latest = this.find(combination) ?? this.add(combination, keyOf(combination));
    (this.shared[this.latest] as Counted).count++;
    return this.latest;
  }

  /** Making a key costs more than some comparisons: where there are few combinations, none is made. */
  private find(combination: Combination): number | undefined {
    const { shared } = this;
    const latest = shared[this.latest];
    if (latest !== undefined && isSame(latest, combination)) return this.latest;
    if (shared.length > comparedCountMax) return this.byKey.get(keyOf(combination));
    const id = shared.findIndex((one) => one !== undefined && isSame(one, combination));
    return id < 0 ? undefined : id;
  }

  /**
   * The number of the combination, the wished one where it is new and that number free. Not counted: `hold` comes next,
   * for each of its records, and then `leave`.
   */
  place(wished: number, combination: Combination): number {
    const key = keyOf(combination);
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    if (this.shared[wished] !== undefined || wished > this.shared.length + wishedAheadMax) {
      return this.add(combination, key);
    }
    while (this.shared.length <= wished) {
      this.freeIds.push(this.shared.length);
      this.shared.push(undefined);
    }
    this.freeIds.splice(this.freeIds.indexOf(wished), 1);
    return this.addAt(wished, combination, key);
  }

  /** Counted once more. */
  hold(id: number): void {
    (this.get(id) as Counted).count++;
  }

  /** Forgets a combination that was placed and not held. */
  leave(id: number): void {
    const combination = this.shared[id];
    if (combination?.count === 0) this.forget(id, combination);
  }

  private add(combination: Combination, key: string): number {
    return this.addAt(this.freeIds.pop() ?? this.shared.length, combination, key);
  }

  private addAt(id: number, combination: Combination, key: string): number {
    const { namespace, factor } = combination;
    this.shared[id] = {
      namespace,
      factor,
      replicas: Object.freeze([...combination.replicas]),
      key,
      count: 0,
    };
    this.byKey.set(key, id);
    return id;
  }

  get(id: number): Combination {
    const combination = this.shared[id];
    invariant(combination !== undefined, 'a combination that is read is in use');
    return combination;
  }

  /** Counted once less; the last one forgets the combination. */
  drop(id: number): void {
    const combination = this.get(id) as Counted;
    invariant(combination.count > 0, 'a combination is given up as often as it was taken');
    if (--combination.count === 0) this.forget(id, combination);
  }

  private forget(id: number, combination: Counted): void {
    this.byKey.delete(combination.key);
    this.shared[id] = undefined;
    this.freeIds.push(id);
  }
}

function isSame(a: Combination, b: Combination): boolean {
  if (a.namespace !== b.namespace || a.factor !== b.factor) return false;
  if (a.replicas.length !== b.replicas.length) return false;
  for (let i = 0; i < a.replicas.length; i++) if (a.replicas[i] !== b.replicas[i]) return false;
  return true;
}

/** Lengths go before texts, so that no two combinations share a key, for any texts. */
function keyOf({ namespace, factor, replicas }: Combination): string {
  let key = `${factor} ${namespace.length} ${namespace}`;
  for (const name of replicas) key += ` ${name.length} ${name}`;
  return key;
}
