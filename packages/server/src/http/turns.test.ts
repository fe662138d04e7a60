import { SystemClock } from '@carillon/core/system';
import { beforeEach, describe, expect, it } from 'vitest';
import { Turns, type WaitingClient } from './turns.ts';

/** A clock that only work moves; functions given to `soon` run when `turn` is called. */
class WorkClock extends SystemClock {
  nowMs = 1000;
  private due: (() => void)[] = [];

  override now(): number {
    return this.nowMs;
  }

  override soon(fn: () => void): void {
    this.due.push(fn);
  }

  turn(): void {
    for (const fn of this.due.splice(0)) fn();
  }

  get idle(): boolean {
    return this.due.length === 0;
  }
}

let clock = new WorkClock();
let turns = new Turns(clock);
let log: string[] = [];

beforeEach(() => {
  clock = new WorkClock();
  turns = new Turns(clock);
  log = [];
});

/** A connection with a request that takes so long, unless it is refused. */
class Client implements WaitingClient {
  lineMs = 0;
  readonly name: string;
  readonly workMs: number;
  readonly party: string;

  constructor(name: string, workMs: number, party = '') {
    this.name = name;
    this.workMs = workMs;
    this.party = party;
  }

  called(): void {
    if (!turns.admits(this)) return;
    if (!turns.refusing) clock.nowMs += this.workMs;
    log.push(turns.refusing ? `-${this.name}` : this.name);
  }
}

function arrive(count: number, workMs: number, prefix = ''): void {
  for (let i = 0; i < count; i++) new Client(`${prefix}${i}`, workMs).called();
}

function newLines(): string[] {
  return log.splice(0);
}

describe('turns', () => {
  it('T1: a turn begins requests for 2 ms; the rest is called in the order it came', () => {
    arrive(5, 1);
    expect(newLines()).toEqual(['0', '1']);
    clock.turn();
    expect(newLines()).toEqual(['2', '3']);
    arrive(1, 1, 'late ');
    expect(newLines()).toEqual([]);
    clock.turn();
    expect(newLines()).toEqual(['4', 'late 0']);
    clock.turn();
    expect(clock.idle).toBe(true);
  });

  it('gives a whole turn to connections that come while the line is empty', () => {
    arrive(2, 1);
    clock.turn();
    arrive(2, 1, 'next ');
    expect(newLines()).toEqual(['0', '1', 'next 0', 'next 1']);
  });

  it('T1: lets one request take as long as it needs, and works on at least one in each turn', () => {
    arrive(3, 500);
    expect(newLines()).toEqual(['0']);
    clock.turn();
    expect(newLines()).toEqual(['1']);
    clock.turn();
    expect(newLines()).toEqual(['2']);
  });

  it('T2: refuses sets while many connections are in line for long, until they are not many any more', () => {
    arrive(300, 1);
    // No connection has waited for more than 20 ms.
    for (let i = 0; i < 9; i++) clock.turn();
    expect(newLines().every((name) => !name.startsWith('-'))).toBe(true);
    clock.turn();
    clock.turn();
    const lines = newLines();
    expect(lines.slice(0, 4)).toEqual(['20', '21', '22', '23']);
    // 256 are left in line.
    expect(lines.slice(4)).toEqual(Array.from({ length: 20 }, (_, i) => `-${i + 24}`));
  });

  it('T2: few that wait for long are worked on, as large batches are', () => {
    arrive(256, 40);
    while (!clock.idle) clock.turn();
    expect(newLines()).toEqual(Array.from({ length: 256 }, (_, i) => String(i)));
  });

  it('T1: refuses for 4 ms of a turn at most', () => {
    arrive(2, 1);
    const slow = Array.from({ length: 300 }, (_, i) => new SlowToRefuse(String(i), 1));
    for (const client of slow) client.called();
    clock.nowMs += 50;
    clock.turn();
    expect(newLines().slice(2)).toEqual(['0', '1', '-2', '-3']);
  });

  it('T3: a party with one connection has as much of each turn as one with a thousand', () => {
    for (let i = 0; i < 1000; i++) new Client(`many ${i}`, 1, 'many').called();
    newLines();
    for (let i = 0; i < 20; i++) {
      new Client(`few ${i}`, 1, 'few').called();
      clock.turn();
      const worked = newLines().filter((name) => !name.startsWith('-'));
      expect(worked.filter((name) => name.startsWith('few'))).toEqual([`few ${i}`]);
      expect(worked).toHaveLength(2);
    }
  });

  it('T3: where requests take longer than a turn, parties have every other turn', () => {
    for (let i = 0; i < 300; i++) new Client(`many ${i}`, 30, 'many').called();
    newLines();
    for (let i = 0; i < 3; i++) new Client(`few ${i}`, 30, 'few').called();
    for (let i = 0; i < 6; i++) clock.turn();
    const worked = newLines().filter((name) => !name.startsWith('-'));
    expect(worked.map((name) => name.split(' ')[0])).toEqual([
      'many',
      'few',
      'many',
      'few',
      'many',
      'few',
    ]);
  });

  it('T2: refuses sets of the party with most connections in line, and of no other', () => {
    for (let i = 0; i < 1000; i++) new Client(`many ${i}`, 1, 'many').called();
    for (let i = 0; i < 100; i++) new Client(`few ${i}`, 1, 'few').called();
    for (let i = 0; i < 40; i++) clock.turn();
    const refused = newLines().filter((name) => name.startsWith('-'));
    expect(refused.length).toBeGreaterThan(500);
    expect(refused.filter((name) => name.startsWith('-few'))).toEqual([]);
  });

  it('does not call a connection that has left', () => {
    arrive(2, 1);
    const gone = new Client('gone', 1);
    gone.called();
    turns.leave(gone);
    clock.turn();
    expect(newLines()).toEqual(['0', '1']);
  });
});

/** Costs as much when it is refused. */
class SlowToRefuse extends Client {
  override called(): void {
    const before = clock.nowMs;
    super.called();
    if (turns.refusing && clock.nowMs === before) clock.nowMs += this.workMs;
  }
}
