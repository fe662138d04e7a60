import { beforeEach, describe, expect, test } from 'vitest';
import { History, type Operation, opaqueOf } from '../../packages/sim/src/history.ts';
import type { RecordedCall } from '../e2e/support/recorder.ts';
import { judgeSoak, type Verdict } from './checker.ts';
import { type Kind, Windows } from './windows.ts';

const usualMs = 2000;
let history: History;
let windows: Windows;
let calls: RecordedCall[];
let deadLetters: Set<string>;
let blind: { fromMs: number; toMs: number }[];

beforeEach(() => {
  history = new History();
  windows = new Windows();
  calls = [];
  deadLetters = new Set();
  blind = [];
});

/** A timer of two copies, asked for at this moment and confirmed 5 ms later. */
function set(atMs: number, { count = 1, have = 2, intervalMs = usualMs } = {}): Operation {
  const timer = history.timer();
  timer.id = `${timer.index.toString(16).padStart(16, '0')}0000000000000000-2`;
  const wish = { intervalMs, count, factor: 2, receiver: 'recorder' };
  return confirm(history.operation(timer, 'set', wish, false), atMs, have);
}

function cancel({ timer }: Operation, atMs: number): Operation {
  return confirm(history.operation(timer, 'cancel', null, false), atMs, 2);
}

function confirm(operation: Operation, atMs: number, have: number): Operation {
  const settledMs = atMs + 5;
  operation.attempts.push({ member: 'n0', sentMs: atMs, arrivedMs: atMs, settledMs, status: 200 });
  operation.ackMs = settledMs;
  operation.have = have;
  operation.wanted = 2;
  return operation;
}

function pop(operation: Operation, startMs: number, given: Partial<RecordedCall> = {}): void {
  const { sequence = 1 } = given;
  const number = (operation.timer.id ?? '').slice(0, 16);
  calls.push({
    by: 'n0',
    receiver: 'recorder',
    startMs,
    popId: `${number} 1 ${sequence}`,
    number,
    sequence,
    missed: 0,
    attempt: 1,
    body: opaqueOf(operation),
    effectMs: startMs,
    result: { kind: 'answer', status: 200, retryAfterMs: null },
    endMs: startMs + 1,
    latenessMs:
      startMs - (operation.ackMs ?? 0) - sequence * (operation.wish?.intervalMs ?? usualMs),
    ...given,
  });
}

function fault(member: string, kind: Kind, fromMs: number, toMs: number): void {
  windows.begin([member], kind, kind, fromMs)(toMs);
}

function verdict(): Verdict {
  const members = ['n0', 'n1', 'n2'];
  return judgeSoak({ history, calls, windows, members, deadLetters, blind });
}

/** The promises that were broken. */
function broken(): string[] {
  return verdict().broken.map((sentence) => sentence.slice(0, 2));
}

test('a timer that pops once in time breaks nothing and is counted', () => {
  const operation = set(50_000, { count: 2 });
  pop(operation, 52_010);
  pop(operation, 54_010, { sequence: 2 });
  const { counts, broken: sentences } = verdict();
  expect(sentences).toEqual([]);
  expect(counts).toMatchObject({ sets: 1, pops: 2, callbacks: 2, lost: 0, early: 0, refused: 0 });
});

describe('P2, no pop is lost', () => {
  test('one that never came is lost, faults or not', () => {
    fault('n0', 'down', 0, 90_000);
    pop(set(50_000, { count: 2 }), 52_010);
    expect(broken()).toEqual(['P2']);
    expect(verdict().counts.lost).toBe(1);
  });

  test('one in a dead letter is not', () => {
    deadLetters.add(`${opaqueOf(set(50_000))} 1`);
    expect(broken()).toEqual([]);
  });

  test('one that stands for missed ones delivers them too', () => {
    pop(set(50_000, { count: 2 }), 54_010, { sequence: 2, missed: 1, latenessMs: 0 });
    expect(broken()).toEqual([]);
  });

  test('a timer that was cancelled need not pop', () => {
    cancel(set(50_000), 50_500);
    expect(broken()).toEqual([]);
  });
});

describe('P3, never early', () => {
  test('not by a millisecond before the interval after the request was sent', () => {
    pop(set(50_000), 51_999, { latenessMs: 0 });
    expect(broken()).toEqual(['P3']);
  });

  test('nor before the due time in its own header', () => {
    pop(set(50_000), 52_001, { latenessMs: -2 });
    expect(broken()).toEqual(['P3']);
    expect(verdict().counts.early).toBe(1);
  });
});

describe('P4, by 2n', () => {
  const tooLateMs = 50_005 + 2 * usualMs + 60;

  test('a pop after that is late, also when one member of three was down: the other copy was not', () => {
    fault('n1', 'down', 50_000, 60_000);
    pop(set(50_000), tooLateMs);
    expect(broken()).toEqual(['P4']);
    expect(verdict().counts.late).toEqual({ broken: 1, excused: 0 });
  });

  test('a pop just in time is not', () => {
    pop(set(50_000), tooLateMs - 20);
    expect(broken()).toEqual([]);
  });

  test('two members that stood still, be it for want of a processor, may have been both copies', () => {
    fault('n1', 'paused', 52_500, 60_000);
    windows.starve('n2', 53_000, 54_500);
    pop(set(50_000), tooLateMs);
    expect(broken()).toEqual([]);
    expect(verdict().counts.late).toEqual({ broken: 0, excused: 1 });
  });

  test('a second without a processor is no excuse', () => {
    fault('n1', 'paused', 52_500, 60_000);
    windows.starve('n2', 53_000, 54_000);
    pop(set(50_000), tooLateMs);
    expect(broken()).toEqual(['P4']);
  });

  test('one is enough for a timer with one copy, be it only restarted', () => {
    fault('n2', 'network', 40_000, 45_000);
    fault('n1', 'stopped', 52_100, 53_000);
    pop(set(50_000, { have: 1 }), tooLateMs);
    expect(broken()).toEqual([]);
    pop(set(50_000), tooLateMs);
    expect(broken()).toEqual(['P4']);
  });

  test('members that stood still before it was due, or are cut off, explain nothing', () => {
    for (const name of ['n0', 'n1', 'n2']) {
      fault(name, 'paused', 50_000, 51_900);
      fault(name, 'network', 50_000, 60_000);
    }
    pop(set(50_000), tooLateMs);
    expect(broken()).toEqual(['P4']);
  });

  test('a call that arrived while the receiver could not look counts as arrived when that began', () => {
    blind.push({ fromMs: tooLateMs - 100, toMs: tooLateMs + 10 });
    pop(set(50_000), tooLateMs);
    expect(broken()).toEqual([]);
  });
});

describe('P5, once unless something failed', () => {
  function twice(by = 'n1'): void {
    const operation = set(50_000);
    pop(operation, 52_010);
    pop(operation, 53_500, { by });
  }

  test('a second callback without any fault is one too many', () => {
    twice();
    expect(broken()).toEqual(['P5']);
    expect(verdict().counts.twice).toEqual({ outside: 1, inside: 0 });
  });

  test.each(['down', 'paused', 'starved', 'network'] as const)(
    'a caller that was %s explains it',
    (kind) => {
      fault('n1', kind, 52_000, 53_000);
      twice();
      expect(broken()).toEqual([]);
      expect(verdict().counts.twice).toEqual({ outside: 0, inside: 1 });
    },
  );

  test.each([
    { afterMs: 1000, explains: false },
    { afterMs: 2500, explains: true },
  ])(
    'a caller without a processor for $afterMs ms explains it for a timer of 5 s: $explains',
    ({ afterMs, explains }) => {
      windows.starve('n1', 55_000, 55_000 + afterMs);
      const operation = set(50_000, { intervalMs: 5000 });
      pop(operation, 55_010);
      pop(operation, 58_000, { by: 'n1' });
      expect(broken()).toEqual(explains ? [] : ['P5']);
    },
  );

  test('a fault of a member that did not call does not', () => {
    fault('n2', 'down', 52_000, 53_000);
    twice();
    expect(broken()).toEqual(['P5']);
  });

  test('unless the caller is unknown', () => {
    fault('n2', 'down', 52_000, 53_000);
    const operation = set(50_000);
    pop(operation, 52_010, { by: 'some member' });
    pop(operation, 53_500, { by: 'some member' });
    expect(broken()).toEqual([]);
  });

  test('a restart or another planned change does not', () => {
    fault('n1', 'planned', 40_000, 60_000);
    twice();
    expect(broken()).toEqual(['P5']);
  });

  test('nor does a member that was told to stop', () => {
    fault('n1', 'stopped', 40_000, 60_000);
    twice();
    expect(broken()).toEqual(['P5']);
  });

  test('a fault that was over three seconds before the first does not', () => {
    fault('n1', 'down', 40_000, 49_000);
    twice();
    expect(broken()).toEqual(['P5']);
  });

  test('a second one with another body is never right', () => {
    fault('n1', 'down', 52_000, 53_000);
    const operation = set(50_000);
    pop(operation, 52_010);
    pop(operation, 53_500, { body: opaqueOf(set(50_000)), by: 'n1' });
    expect(broken()).toContain('P5');
  });
});

describe('P6, cancels stick', () => {
  test('a callback that may have arrived before the cancel was confirmed, while the receiver could not look, is none of these', () => {
    const operation = set(50_000);
    cancel(operation, 51_950);
    pop(operation, 52_010);
    expect(broken()).toEqual(['P6']);
    blind.push({ fromMs: 51_954, toMs: 52_020 });
    expect(broken()).toEqual([]);
  });

  test('a callback after a confirmed cancel breaks it', () => {
    const operation = set(50_000);
    cancel(operation, 51_000);
    pop(operation, 52_010);
    expect(broken()).toEqual(['P6']);
  });

  test('not one by a member that was cut off', () => {
    fault('n0', 'network', 50_500, 51_500);
    const operation = set(50_000);
    cancel(operation, 51_000);
    pop(operation, 52_010);
    expect(broken()).toEqual([]);
    expect(verdict().counts.revived).toEqual({ broken: 0, excused: 1 });
  });

  test('that another member was cut off is no excuse', () => {
    fault('n1', 'network', 50_500, 51_500);
    const operation = set(50_000);
    cancel(operation, 51_000);
    pop(operation, 52_010);
    expect(broken()).toEqual(['P6']);
  });

  test('a member that was down at the cancel and has been back for long has had time to ask', () => {
    fault('n0', 'down', 50_500, 51_500);
    const operation = set(50_000);
    cancel(operation, 51_000);
    pop(operation, 53_000);
    expect(broken()).toEqual([]);
    calls.length = 0;
    pop(operation, 59_000);
    expect(broken()).toEqual(['P6']);
  });
});

describe('P1 and P7, requests', () => {
  test('a timer with one copy of two is right after a fault and wrong in a whole cluster', () => {
    pop(set(50_000, { have: 1 }), 52_010);
    expect(broken()).toEqual(['P1']);
    fault('n1', 'down', 20_000, 36_000);
    expect(broken()).toEqual([]);
    expect(verdict().counts.fewCopies).toEqual({ broken: 0, excused: 1 });
  });

  test('a request that no member took is refused without reason while one member could', () => {
    const operation = history.operation(history.timer(), 'set', null, false);
    const attempt = { sentMs: 50_000, arrivedMs: 50_000, settledMs: 50_001, status: 503 };
    operation.attempts.push({ member: 'n0', ...attempt });
    fault('n0', 'down', 40_000, 60_000);
    fault('n1', 'paused', 40_000, 60_000);
    expect(broken()).toEqual(['P7']);
    windows.starve('n2', 49_000, 52_000);
    expect(broken()).toEqual([]);
  });

  test('an answer other than 2xx in a whole cluster is one, even if the next member took it', () => {
    const operation = set(50_000);
    const refusal = { sentMs: 49_900, arrivedMs: 49_900, settledMs: 49_950, status: 503 };
    operation.attempts.unshift({ member: 'n1', ...refusal });
    pop(operation, 52_010);
    expect(broken()).toEqual(['P7']);
    fault('n1', 'planned', 45_000, 46_000);
    expect(broken()).toEqual([]);
  });
});
