/**
 * P1 on one member: every confirmed entry is there after any crash at any moment, and no entry is there that was
 * never written. Random changes, snapshots, full and slow disks, power cuts, again and again.
 */
import type { TimerRecord } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Journal } from './journal.ts';
import { recordOf, World } from '../testing/journal-world.ts';
import { Store } from '../store.ts';
import type { RowSource } from './snapshot.ts';

const absent = -1;

/** All states a number ever had, oldest first, and from which on they are allowed to be found. */
class History {
  readonly states: number[] = [absent];
  confirmed = 0;

  get present(): number {
    return this.states.at(-1) as number;
  }

  allows(found: number): boolean {
    return this.states.indexOf(found, this.confirmed) >= 0;
  }
}

/** The records in blocks of rows, as they are when they are asked for. */
function rowsOf(next: () => TimerRecord | undefined): RowSource {
  return (baseMs, limit, emit) => {
    const store = new Store();
    while (store.size < limit) {
      const record = next();
      if (record === undefined) break;
      store.put(record);
    }
    store.rowBlocks()(baseMs, limit + 1, emit);
    return store.size;
  };
}

/** A journal being driven, with the entries that it confirmed. */
class Drive {
  world: World;
  journal: Journal | null = null;
  readonly histories = new Map<number, History>();
  private sequence = 0;
  private marked = 0;

  constructor(world: World) {
    this.world = world;
  }

  change(lo: number, drops: boolean): void {
    const history = this.history(lo);
    this.sequence++;
    this.journal?.mark(this.sequence);
    history.states.push(drops ? absent : this.sequence);
    if (drops) {
      this.journal?.drop(7, lo);
      this.world.records.delete(lo);
    } else {
      const record = recordOf(lo, this.sequence, lo * 40);
      this.journal?.put(record);
      this.world.records.set(lo, record);
    }
  }

  commit(): void {
    const reached = [...this.histories].map(([lo, { states }]) => [lo, states.length - 1] as const);
    const marked = this.journal?.marked ?? 0;
    this.journal?.commit((error) => {
      if (error !== null) return;
      for (const [lo, at] of reached) {
        const history = this.history(lo);
        history.confirmed = Math.max(history.confirmed, at);
      }
      this.marked = Math.max(this.marked, marked);
    });
  }

  snapshot(): void {
    const { records } = this.world;
    const waiting = [...records.keys()];
    const next = (): TimerRecord | undefined => {
      for (let lo = waiting.shift(); lo !== undefined; lo = waiting.shift()) {
        const record = records.get(lo);
        if (record !== undefined) return record;
      }
      return undefined;
    };
    void this.journal?.snapshots.take({ records: next, rows: rowsOf(next) });
  }

  /** Snapshots hold rows from now on. */
  raise(): void {
    void this.journal?.beginNewestForm();
  }

  /** The power goes and comes back: the recovered records must be allowed ones, and are the truth from now on. */
  async crash(random: SeededRandom): Promise<void> {
    const { latencyMs } = this.world.disk;
    const { clock } = this.world;
    this.world = new World(this.world.disk.crash(random));
    this.world.clock = clock;
    this.world.disk.latencyMs = 0;
    this.world.disk.capacityBytes = Number.POSITIVE_INFINITY;
    this.journal = await this.world.open();
    expect(this.journal.marked).toBeGreaterThanOrEqual(this.marked);
    for (const [lo, history] of this.histories) {
      const found = this.world.records.get(lo)?.sequence ?? absent;
      if (!history.allows(found)) {
        const { states, confirmed } = history;
        throw new Error(
          `${lo}: found ${found}, states ${states.join(' ')}, confirmed ${confirmed}`,
        );
      }
      history.states.push(found);
      history.confirmed = history.states.length - 1;
    }
    for (const lo of this.world.records.keys()) expect(this.histories.has(lo)).toBe(true);
    this.world.disk.latencyMs = latencyMs;
  }

  private history(lo: number): History {
    const history = this.histories.get(lo) ?? new History();
    this.histories.set(lo, history);
    return history;
  }
}

const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('change' as const),
      lo: fc.nat(30),
      drops: fc.boolean(),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('commit' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(4) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('raise' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const), seed: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('fill' as const), leftBytes: fc.nat(8000) }),
  },
);

describe('crash at any moment', () => {
  it('P1: finds every confirmed change and invents none, through any number of crashes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 5, maxLength: 60 }),
        fc.constantFrom(0, 1, 1, 2),
        async (steps, latencyMs) => {
          const drive = new Drive(new World());
          drive.journal = await drive.world.open();
          drive.world.disk.latencyMs = latencyMs;
          for (const one of steps) {
            if (one.do === 'change') drive.change(one.lo, one.drops);
            else if (one.do === 'commit') drive.commit();
            else if (one.do === 'wait') await drive.world.clock.advance(one.ms);
            else if (one.do === 'snapshot') drive.snapshot();
            else if (one.do === 'raise') drive.raise();
            else if (one.do === 'crash') await drive.crash(new SeededRandom(one.seed));
            else drive.world.disk.capacityBytes = drive.world.disk.usedBytes + one.leftBytes;
          }
          await drive.crash(new SeededRandom(1));
        },
      ),
      { numRuns: 300 },
    );
  });
});
