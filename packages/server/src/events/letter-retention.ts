/**
 * Drops dead letters where their namespace asks for it: letters over an age, and the oldest ones over a number. Without
 * such a wish a letter stays until it is delivered or discarded.
 *
 * L1  Before a letter is dropped, the event about it is safe, if the namespace wants one; otherwise it is tried again
 *     later.
 * L2  The replicas of a letter come to its end one after the other, as they do to pops: the first drops it and tells
 *     the others, so that the history has one entry for the cluster. Also where several of them find it over at once:
 *     after a start, after a change of the wishes, or because each of them has too many.
 */
import { type Clock, compareProgress, State, type TimerRecord } from '@carillon/core';

type Position = { readonly hi: number; readonly lo: number };

export interface RetentionParts {
  readonly self: string;
  readonly clock: Clock;
  readonly store: {
    find(hi: number, lo: number): number;
    get(hi: number, lo: number): TimerRecord | undefined;
    read(handle: number): TimerRecord;
    arm(handle: number, atMs: number): void;
    nextLetters(after: Position | null, limit: number, out: number[]): Position | null;
  };
  /** When the time of the letter is over. */
  readonly alarm: (record: TimerRecord) => number;
  /** null: no letter is dropped for the number of letters. */
  readonly countMax: (namespace: string) => number | null;
  /** Dead letters here, by namespace. */
  readonly boxes: () => Iterable<readonly [namespace: string, letters: number]>;
  /** Raises the event about a letter that will be dropped; false: not yet. */
  readonly tell: (record: TimerRecord, done: (told: boolean) => void) => void;
  /** Makes a tombstone of the letter, here and at its other replicas. */
  readonly end: (record: TimerRecord) => void;
  /** Alarms were set anew. */
  readonly onArmed: () => void;
  readonly onDropped: () => void;
}

/** Without a place for its event a letter stays for so long. */
const againMs = 10_000;
/** Each further replica waits so much longer: longer than members take to look for letters that are over. */
const skewMs = 20_000;
/** Letters looked at in one turn. */
const sliceLength = 500;
/** Letters dropped for their number in one go; more are left to the next. */
const dropCountMax = 10_000;

export class LetterRetention {
  private readonly parts: RetentionParts;
  private isSweeping = false;
  /** When this member began to go by its present wishes. */
  private sinceMs: number;
  /** Namespaces with letters that are left to the replicas before this one for a moment. */
  private readonly waiting = new Set<string>();

  constructor(parts: RetentionParts) {
    this.parts = parts;
    this.sinceMs = parts.clock.now();
  }

  /** The alarm of a letter rang. */
  over(record: TimerRecord): void {
    const { clock, store, alarm } = this.parts;
    const atMs = Math.max(alarm(record), this.sinceMs + this.positionOf(record) * skewMs);
    const handle = store.find(record.hi, record.lo);
    if (clock.now() < atMs) return store.arm(handle, atMs);
    // In case that the event finds no place, or this member stops being a replica meanwhile.
    store.arm(handle, clock.now() + againMs);
    this.drop(record);
  }

  /** Wishes have changed: letters have other times. */
  rearm(): void {
    const { clock, store, alarm, onArmed } = this.parts;
    this.sinceMs = clock.now();
    this.walk((handle) => store.arm(handle, alarm(store.read(handle))), onArmed);
  }

  /** Drops the oldest letters of namespaces that have too many. To be called now and then. */
  sweep(): void {
    if (this.isSweeping) return;
    for (const [namespace, letters] of this.parts.boxes()) {
      const excess = this.excessOf(namespace, letters);
      if (excess === 0 || this.waiting.has(namespace)) continue;
      return this.dropOldest(namespace, Math.min(excess, dropCountMax));
    }
  }

  /** How many of so many letters are too many. */
  private excessOf(namespace: string, letters: number): number {
    return Math.max(0, letters - (this.parts.countMax(namespace) ?? letters));
  }

  private dropOldest(namespace: string, count: number): void {
    const { store } = this.parts;
    const letters: { readonly hi: number; readonly lo: number; readonly dueMs: number }[] = [];
    this.isSweeping = true;
    const visit = (handle: number): void => {
      const { hi, lo, dueMs, ...record } = store.read(handle);
      if (record.namespace === namespace) letters.push({ hi, lo, dueMs });
    };
    this.walk(visit, () => {
      this.isSweeping = false;
      // By number where two became letters at once, so that all members choose the same.
      letters.sort((a, b) => a.dueMs - b.dueMs || a.hi - b.hi || a.lo - b.lo);
      const byPosition = new Map<number, Position[]>();
      for (const { hi, lo } of letters.slice(0, count)) {
        const record = store.get(hi, lo);
        if (record?.state !== State.dead) continue;
        const position = this.positionOf(record);
        if (position === 0) this.drop(record);
        else gather(byPosition, position, { hi, lo });
      }
      if (byPosition.size > 0) this.dropInOrder(namespace, byPosition);
    });
  }

  /** Drops letters by position, later than the replicas before this one would. */
  private dropInOrder(
    namespace: string,
    byPosition: ReadonlyMap<number, readonly Position[]>,
  ): void {
    const { clock, store } = this.parts;
    const last = Math.max(...byPosition.keys());
    this.waiting.add(namespace);
    for (const [position, letters] of byPosition) {
      clock.at(clock.now() + position * skewMs, () => {
        if (position === last) this.waiting.delete(namespace);
        const there = letters.flatMap(({ hi, lo }) => store.get(hi, lo) ?? []);
        const dead = there.filter(({ state }) => state === State.dead);
        // Other replicas may have dropped others of this member's letters meanwhile.
        const held = [...this.parts.boxes()].find(([name]) => name === namespace)?.[1] ?? 0;
        for (const record of dead.slice(0, this.excessOf(namespace, held))) this.drop(record);
      });
    }
  }

  private positionOf({ replicas }: TimerRecord): number {
    const position = replicas.indexOf(this.parts.self);
    return position === -1 ? replicas.length : position;
  }

  private drop(record: TimerRecord): void {
    const { store, tell, end, onDropped } = this.parts;
    tell(record, (told) => {
      if (!told) return;
      const now = store.get(record.hi, record.lo);
      // Sent again, discarded or dropped by another replica meanwhile.
      if (now === undefined || compareProgress(now, record) !== 0) return;
      onDropped();
      end(now);
    });
  }

  /** Visits every letter, some of them in each turn. */
  private walk(visit: (handle: number) => void, done: () => void): void {
    const { clock, store } = this.parts;
    const step = (after: Position | null): void => {
      const handles: number[] = [];
      const next = store.nextLetters(after, sliceLength, handles);
      for (const handle of handles) visit(handle);
      if (next === null) done();
      else clock.soon(() => step(next));
    };
    step(null);
  }
}

function gather(byPosition: Map<number, Position[]>, position: number, letter: Position): void {
  const known = byPosition.get(position);
  if (known === undefined) byPosition.set(position, [letter]);
  else known.push(letter);
}
