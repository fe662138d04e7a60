import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { algorithm } from './flat/rendezvous.ts';
import { answer, type Case, cases } from './testing/vectors.contract.ts';

const path = join(import.meta.dirname, '..', 'vectors', `${algorithm}.json`);
const file = JSON.parse(readFileSync(path, 'utf8')) as {
  algorithm: string;
  vectors: (Case & { answer: unknown })[];
};

test('the file is for this algorithm, ids are unique, and every case is published', () => {
  expect(file.algorithm).toBe('carillon-placement-1');
  const ids = file.vectors.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.toSorted()).toEqual(cases.map(({ id }) => id).toSorted());
});

test.each(file.vectors)('$id', (vector) => {
  expect(answer(vector)).toEqual(vector.answer);
});
