import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Model, notLinearizable, type Operation } from './linearizable.ts';
import { type LockOperation, lockModel } from './lock-model.ts';

type History = readonly Operation<LockOperation>[];

const never = Number.POSITIVE_INFINITY;

function op(
  does: LockOperation['does'],
  token: number,
  fromMs: number,
  toMs: number,
): History[number] {
  return { op: { does, token: BigInt(token) }, fromMs, toMs };
}

const possible: Readonly<Record<string, History>> = {
  'nothing at all': [],
  'one grant and its end': [op('grant', 1, 0, 1), op('end', 1, 2, 3)],
  'a second grant that was asked for during the first': [
    op('grant', 1, 0, 10),
    op('end', 1, 20, 30),
    op('grant', 2, 5, 40),
  ],
  'a holder that was killed: its end has no answer': [
    op('grant', 1, 0, 1),
    op('end', 1, 1, never),
    op('grant', 2, 5, 6),
    op('end', 2, 7, 8),
  ],
  'a holder that was killed and followed by nobody': [op('grant', 1, 0, 1), op('end', 1, 1, never)],
  'a check that overlaps the loss': [
    op('grant', 1, 0, 1),
    op('check', 1, 4, 9),
    op('end', 1, 4, 20),
    op('grant', 2, 5, 9),
  ],
  'tokens with gaps': [op('grant', 3, 0, 1), op('end', 3, 2, 3), op('grant', 90, 4, 5)],
};

const impossible: Readonly<Record<string, History>> = {
  'a token that was granted twice': [
    op('grant', 1, 0, 1),
    op('end', 1, 2, 3),
    op('grant', 1, 4, 5),
  ],
  'a token that fell': [op('grant', 2, 0, 1), op('end', 2, 2, 3), op('grant', 1, 4, 5)],
  'two holders at a time': [
    op('grant', 1, 0, 1),
    op('grant', 2, 2, 3),
    op('check', 1, 4, 5),
    op('end', 1, 4, 9),
    op('end', 2, 6, 9),
  ],
  'a check after the next grant, by a holder that is killed later': [
    op('grant', 1, 0, 1),
    op('grant', 2, 2, 3),
    op('check', 1, 4, 5),
    op('end', 1, 4, never),
    op('end', 2, 3, never),
  ],
  'a check after the end': [op('grant', 1, 0, 1), op('end', 1, 2, 3), op('check', 1, 4, 5)],
};

describe('linearizable: a lock', () => {
  test.each(Object.entries(possible))('can have made: %s', (_, history) => {
    expect(notLinearizable(history, lockModel)).toBeNull();
  });

  test.each(Object.entries(impossible))('cannot have made: %s', (_, history) => {
    expect(notLinearizable(history, lockModel)).not.toBeNull();
  });

  test('names the longest run that is possible', () => {
    const history = impossible['a token that was granted twice'] as History;
    expect(notLinearizable(history, lockModel)).toEqual([
      { does: 'grant', token: 1n },
      { does: 'end', token: 1n },
    ]);
  });
});

describe('linearizable: the search', () => {
  /** A register: `write` sets it, `read` must see the last value that was written. */
  type RegisterOp = { readonly write: number } | { readonly read: number };
  const register: Model<number, RegisterOp> = {
    initial: 0,
    step: (state, step) => ('write' in step ? step.write : step.read === state ? state : null),
    name: String,
  };

  /** Trivially right: tries every order that keeps operations apart in time in their order. */
  function byBruteForce(history: readonly Operation<RegisterOp>[]): boolean {
    const explore = (left: readonly Operation<RegisterOp>[], state: number): boolean =>
      left.every(({ toMs }) => toMs === never) ||
      left.some((next) => {
        if (left.some((other) => other.toMs < next.fromMs)) return false;
        const after = register.step(state, next.op);
        return (
          after !== null &&
          explore(
            left.filter((other) => other !== next),
            after,
          )
        );
      });
    return explore(history, register.initial);
  }

  const operation = fc
    .record({
      op: fc.oneof(
        fc.record({ write: fc.integer({ min: 1, max: 2 }) }),
        fc.record({ read: fc.integer({ min: 0, max: 2 }) }),
      ),
      fromMs: fc.integer({ min: 0, max: 12 }),
      lastsMs: fc.option(fc.integer({ min: 0, max: 6 }), { nil: never }),
    })
    .map(({ op: step, fromMs, lastsMs }) => ({ op: step, fromMs, toMs: fromMs + lastsMs }));

  test('agrees with trying every order, over random histories of a register', () => {
    const counts = { possible: 0, impossible: 0 };
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 6 }), (history) => {
        const expected = byBruteForce(history);
        counts[expected ? 'possible' : 'impossible']++;
        expect(notLinearizable(history, register) === null).toBe(expected);
      }),
      { numRuns: 2000 },
    );
    expect(Math.min(counts.possible, counts.impossible)).toBeGreaterThan(200);
  });

  test('10,000 grants in a row need one look at each', () => {
    const history = Array.from({ length: 10_000 }, (_, i) => [
      op('grant', i + 1, 4 * i, 4 * i + 1),
      op('end', i + 1, 4 * i + 2, 4 * i + 3),
    ]).flat();
    let steps = 0;
    const counted = {
      ...lockModel,
      step: (...args: Parameters<typeof lockModel.step>) => {
        steps++;
        return lockModel.step(...args);
      },
    };
    expect(notLinearizable(history, counted)).toBeNull();
    expect(steps).toBe(20_000);
  });
});
