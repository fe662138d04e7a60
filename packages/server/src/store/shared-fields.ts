/**
 * The fields that many records have in common, kept once: namespace, factor and replicas. There are few distinct
 * combinations, so a record holds a small number instead. Counted, because views change and old combinations must not
 * pile up.
 */
import { invariant } from '@carillon/core';

export interface Kin {
  readonly namespace: string;
  readonly factor: number;
  readonly replicas: readonly string[];
}

interface Shared extends Kin {
  readonly key: string;
  count: number;
}

export class Kinship {
  private readonly shared: (Shared | undefined)[] = [];
  private readonly byKey = new Map<string, number>();
  private readonly freeIds: number[] = [];
  /** The combination taken last: the next record often has the same. */
  private latest = -1;

  get size(): number {
    return this.byKey.size;
  }

  /** The number of the combination, counted once more. */
  take(kin: Kin): number {
    const latest = this.shared[this.latest];
    if (latest !== undefined && isSame(latest, kin)) {
      latest.count++;
      return this.latest;
    }
    const key = keyOf(kin);
    const known = this.byKey.get(key);
    this.latest = known ?? this.add(kin, key);
    (this.shared[this.latest] as Shared).count++;
    return this.latest;
  }

  private add(kin: Kin, key: string): number {
    const id = this.freeIds.pop() ?? this.shared.length;
    const { namespace, factor } = kin;
    this.shared[id] = {
      namespace,
      factor,
      replicas: Object.freeze([...kin.replicas]),
      key,
      count: 0,
    };
    this.byKey.set(key, id);
    return id;
  }

  get(id: number): Kin {
    const kin = this.shared[id];
    invariant(kin !== undefined, `combination ${id} is in use`);
    return kin;
  }

  /** Counted once less; the last one forgets the combination. */
  drop(id: number): void {
    const kin = this.get(id) as Shared;
    invariant(kin.count > 0, 'a combination is given up as often as it was taken');
    if (--kin.count > 0) return;
    this.byKey.delete(kin.key);
    this.shared[id] = undefined;
    this.freeIds.push(id);
  }
}

function isSame(a: Kin, b: Kin): boolean {
  if (a.namespace !== b.namespace || a.factor !== b.factor) return false;
  if (a.replicas.length !== b.replicas.length) return false;
  for (let i = 0; i < a.replicas.length; i++) if (a.replicas[i] !== b.replicas[i]) return false;
  return true;
}

/** Lengths go before texts, so that no two combinations share a key, for any texts. */
function keyOf({ namespace, factor, replicas }: Kin): string {
  let key = `${factor} ${namespace.length} ${namespace}`;
  for (const name of replicas) key += ` ${name.length} ${name}`;
  return key;
}
