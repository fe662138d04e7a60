import { describe, expect, test } from 'vitest';
import { askGrowth, askRow, firstQuestion as question, sampleAccounts } from './question.ts';

describe('a row of a table', () => {
  test('has six places with region, zone, node, disk, namespace and queue', () => {
    const { places, levels, table } = askRow(question);
    expect(table).toBe('acme/orders/row');
    expect(places).toHaveLength(6);
    expect(levels).toEqual(['region', 'zone', 'node', 'disk', 'namespace', 'queue']);
    expect(Object.keys(places[0]?.at ?? {})).toEqual(levels);
    expect(new Set(places.map(({ at }) => at['region']))).toEqual(new Set(['r0']));
  });

  test('is found in 8 steps with the fan-outs of the notes, in 4 with stripe bits', () => {
    expect(askRow(question).steps).toHaveLength(4);
    const { steps } = askRow({ ...question, way: 'rounds' });
    expect(steps.map(({ candidates }) => candidates.length)).toEqual([
      32, 32, 32, 16, 32, 32, 32, 16,
    ]);
  });

  test('is found in the tree of the pool too, by the same answer as its steps give', () => {
    const { steps, places } = askRow({ ...question, way: 'pool' });
    expect(steps.map(({ level }) => level).slice(0, 3)).toEqual(['region', 'zone', 'node']);
    expect(places).toHaveLength(6);
  });

  test('stands in a pool of 96 slots, 16 machines of 3 disks in each zone, six of which hold it', () => {
    const { zones, slotCount, places } = askRow(question);
    expect(slotCount).toBe(96);
    expect(zones.map(({ zone, machines }) => `${zone} ${machines.length}`)).toEqual([
      'r0/z0 16',
      'r0/z1 16',
    ]);
    const slots = zones.flatMap(({ machines }) => machines.flatMap((one) => one.slots));
    const roles = slots.flatMap(({ role }) => (role === null ? [] : [role]));
    expect(roles.toSorted((a, b) => a - b)).toEqual(places.map((_, i) => i));
  });
});

describe('when a third zone comes', () => {
  test.each(['bits', 'rounds', 'pool'] as const)(
    'a third of the copies of the table move, the least possible (%s)',
    (way) => {
      const growth = askGrowth({ ...question, way });
      expect(growth.moved).toBe(growth.minimum);
      expect(growth.moved / growth.copies).toBeCloseTo(1 / 3, way === 'pool' ? 1 : 5);
      expect(growth.evenMinimum / growth.copies).toBeCloseTo(1 / 3, 5);
    },
  );

  test('accounts move once, as the rollout rises, until each zone has a third', () => {
    const { rollouts, account, accountFrom } = askGrowth(question);
    expect(account).toBe('acme');
    expect(accountFrom).toBeGreaterThanOrEqual(0);
    expect(rollouts.map(({ rollout }) => rollout)).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(rollouts.map(({ seeing }) => seeing)).toEqual(
      rollouts.map(({ seeing }) => seeing).toSorted((a, b) => a - b),
    );
    expect(rollouts[0]).toMatchObject({ seeing: 0, moved: 0, shares: [0.5, 0.5, 0] });
    expect(rollouts.at(-1)?.seeing).toBe(sampleAccounts);
    for (const share of rollouts.at(-1)?.shares ?? []) expect(share).toBeCloseTo(1 / 3, 5);
    const all = rollouts.reduce((sum, { moved }) => sum + moved, 0);
    expect(all).toBeCloseTo(1 / 3, 5);
  });

  test('an account that was created since sees the zone at once', () => {
    const { zones } = askRow({ ...question, isNewAccount: true });
    expect(zones.map(({ zone }) => zone)).toEqual(['r0/z0', 'r0/z1', 'r0/z2']);
  });
});

test.each([
  [{ replicas: 5 }, /5 replicas do not divide/],
  [{ key: 'acme/orders' }, /account\/table\/type/],
  [{ way: 'rounds' as const, fanOuts: '4,x' }, /fan-out must be a whole number/],
  [{ way: 'rounds' as const, fanOuts: '4,4' }, /must end with 16/],
  [{ region: 'r9' }, /r9/],
])('%j has no answer, and a sentence says why', (part, sentence) => {
  expect(() => askRow({ ...question, ...part })).toThrow(sentence);
});
