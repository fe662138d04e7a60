/** The records of each namespace at this member, counted with every one that comes, changes and goes. */
import { invariant, State, type TimerRecord } from '@carillon/core';

export interface Used {
  /** Timers that are pending. */
  live: number;
  /** Pending timers of which this member is the primary. */
  primaries: number;
  /** Dead letters. */
  dead: number;
  /** Bytes that clients gave, in records of any state. */
  bytes: number;
  /** Records of any state: with the last one the namespace is forgotten. */
  records: number;
}

/** A record as far as it is counted. */
type Counted = Pick<TimerRecord, 'namespace' | 'state'> & {
  readonly body: { readonly length: number };
};

const nothing: Readonly<Used> = { live: 0, primaries: 0, dead: 0, bytes: 0, records: 0 };

export class Usage {
  private readonly all = new Map<string, Used>();
  private newest: { readonly namespace: string; readonly used: Used } | null = null;
  private deadCount = 0;
  private boxCount = 0;
  private recordCount = 0;

  of(namespace: string): Readonly<Used> {
    return this.all.get(namespace) ?? nothing;
  }

  /** Dead letters of all namespaces. */
  get letters(): number {
    return this.deadCount;
  }

  /** Namespaces that have dead letters. */
  get boxes(): number {
    return this.boxCount;
  }

  /** Records of all namespaces, in any state. */
  get records(): number {
    return this.recordCount;
  }

  /** Namespaces that have records. */
  get namespaces(): number {
    return this.all.size;
  }

  names(): IterableIterator<string> {
    return this.all.keys();
  }

  /** Namespaces that have dead letters, and how many. */
  *letterBoxes(): Generator<readonly [namespace: string, letters: number]> {
    if (this.boxCount === 0) return;
    for (const [namespace, { dead }] of this.all) if (dead > 0) yield [namespace, dead];
  }

  /** A record is there from now on (1), or no longer (-1). */
  count({ namespace, state, body }: Counted, by: 1 | -1, isPrimary = false): void {
    const used = this.used(namespace);
    used.records += by;
    this.recordCount += by;
    used.bytes += by * body.length;
    if (state === State.live) used.live += by;
    if (state === State.live && isPrimary) used.primaries += by;
    if (state === State.dead) this.countLetter(used, by);
    invariant(used.records >= 0, 'a namespace has no fewer records than none');
    if (used.records > 0) return;
    this.all.delete(namespace);
    this.newest = null;
  }

  private countLetter(used: Used, by: 1 | -1): void {
    used.dead += by;
    this.deadCount += by;
    if (used.dead === (by === 1 ? 1 : 0)) this.boxCount += by;
  }

  private used(namespace: string): Used {
    if (this.newest?.namespace === namespace) return this.newest.used;
    const used = this.all.get(namespace) ?? { ...nothing };
    this.all.set(namespace, used);
    this.newest = { namespace, used };
    return used;
  }
}
