/**
 * The contents of a block or of a file in figures: whose entries, how many bytes each namespace has, which actors and
 * actions, from when to when. By it a file is skipped that cannot hold an answer, and a budget is reckoned.
 */
import { type Action, actions, type Entry, hashOf } from './entry.ts';

/** The part of one namespace. */
export interface Share {
  bytes: number;
  /** Entries with words of a receiver, and the time of the oldest of them. */
  answerCount: number;
  answersFromMs: number;
}

/** The names of so many actors are kept for a file; with more, any may be in it. */
const actorCountMax = 256;

/** A tally in the form that is stored. */
export interface TallyJson {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly shares: readonly (readonly [string, number, number, number])[];
  /** null: too many to name. */
  readonly actors: readonly string[] | null;
  readonly actionBits: number;
}

export class HistoryTally {
  /** Hashes of the numbers of all entries, in order. */
  private hashes = new Uint32Array(64);
  private count = 0;
  private first = Number.POSITIVE_INFINITY;
  private last = Number.NEGATIVE_INFINITY;
  readonly shares = new Map<string, Share>();
  private actors: Set<string> | null = new Set();
  private actionBits = 0;
  /** The namespace and the actor of the entry before: mostly the next one has the same. */
  private lastNamespace: string | null = null;
  private lastShare: Share = noShare();
  private lastActor: string | null = null;

  get entryCount(): number {
    return this.count;
  }

  get firstMs(): number {
    return this.first;
  }

  get lastMs(): number {
    return this.last;
  }

  get entryHashes(): Uint32Array {
    return this.hashes.subarray(0, this.count);
  }

  add(entry: Entry, bytes: number): void {
    this.push(hashOf(entry.hi, entry.lo));
    const { wallMs } = entry;
    if (wallMs < this.first) this.first = wallMs;
    if (wallMs > this.last) this.last = wallMs;
    const share = this.shareOf(entry.namespace);
    share.bytes += bytes;
    if (entry.kind === 'change') {
      this.actionBits |= 1 << actions.indexOf(entry.action);
      if (entry.actor !== this.lastActor) this.addActor(entry.actor);
    } else if (entry.detail !== '') {
      share.answerCount++;
      if (wallMs < share.answersFromMs) share.answersFromMs = wallMs;
    }
  }

  /** Adds all of another tally behind this one. */
  append(more: HistoryTally): void {
    for (const hash of more.entryHashes) this.push(hash);
    this.absorb(more.toJson());
  }

  /** Whether an entry of this actor may be here. */
  mayHaveActor(actor: string): boolean {
    return this.actors === null || this.actors.has(actor);
  }

  mayHaveAction(action: Action): boolean {
    return (this.actionBits & (1 << actions.indexOf(action))) !== 0;
  }

  get hasChanges(): boolean {
    return this.actionBits !== 0;
  }

  toJson(): TallyJson {
    return {
      firstMs: this.first,
      lastMs: this.last,
      shares: [...this.shares].map(([name, { bytes, answerCount, answersFromMs }]) => [
        name,
        bytes,
        answerCount,
        answersFromMs,
      ]),
      actors: this.actors === null ? null : [...this.actors],
      actionBits: this.actionBits,
    };
  }

  /** Of a stored tally; its hashes stay in the index of the file. */
  static of(json: TallyJson): HistoryTally {
    const tally = new HistoryTally();
    tally.absorb(json);
    return tally;
  }

  private absorb(more: TallyJson): void {
    this.first = Math.min(this.first, more.firstMs);
    this.last = Math.max(this.last, more.lastMs);
    for (const [name, bytes, answerCount, answersFromMs] of more.shares) {
      const share = this.shareOf(name);
      share.bytes += bytes;
      share.answerCount += answerCount;
      // JSON has no infinity.
      share.answersFromMs = Math.min(
        share.answersFromMs,
        answerCount === 0 ? Number.POSITIVE_INFINITY : answersFromMs,
      );
    }
    for (const actor of more.actors ?? []) this.addActor(actor);
    if (more.actors === null) this.actors = null;
    this.actionBits |= more.actionBits;
  }

  private push(hash: number): void {
    if (this.count === this.hashes.length) {
      const grown = new Uint32Array(this.count * 2);
      grown.set(this.hashes);
      this.hashes = grown;
    }
    this.hashes[this.count++] = hash;
  }

  private shareOf(namespace: string): Share {
    if (namespace === this.lastNamespace) return this.lastShare;
    let share = this.shares.get(namespace);
    if (share === undefined) {
      share = noShare();
      this.shares.set(namespace, share);
    }
    this.lastNamespace = namespace;
    this.lastShare = share;
    return share;
  }

  private addActor(actor: string): void {
    this.lastActor = actor;
    this.actors?.add(actor);
    if ((this.actors?.size ?? 0) > actorCountMax) this.actors = null;
  }
}

function noShare(): Share {
  return { bytes: 0, answerCount: 0, answersFromMs: Number.POSITIVE_INFINITY };
}
