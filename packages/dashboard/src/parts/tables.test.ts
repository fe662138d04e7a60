import { expect, test } from 'vitest';
import { askTable, type TableQuestion } from './tables.ts';

const question: TableQuestion = {
  key: 'acme/orders/row/4711',
  zones: 2,
  machines: 32,
  disks: 16,
  partitions: 16,
  replicas: 6,
};

test('a row of a table: six places, and a third zone takes a third of the copies', () => {
  const { places, steps, growth, evenMinimum, shares } = askTable(question);
  expect(places).toHaveLength(6);
  expect(steps.map(({ path, level }) => `${path} ${level}`)).toEqual([
    'z0 stripe',
    'z0 node',
    'z1 stripe',
    'z1 node',
  ]);
  expect(growth.moved).toBe(growth.minimum);
  expect(evenMinimum).toBe(growth.minimum);
  expect(growth.moved / growth.copies).toBeCloseTo(1 / 3, 5);
  expect(shares.map(({ after }) => Math.round(after * 3))).toEqual([1, 1, 1]);
  expect(shares.map(({ before }) => Math.round(before * 2))).toEqual([1, 1, 0]);
});

test('a question without an answer says so in a sentence', () => {
  expect(() => askTable({ ...question, replicas: 5 })).toThrow(/5 replicas do not divide/);
  expect(() => askTable({ ...question, key: 'acme/orders' })).toThrow(/account\/table\/type/);
});
