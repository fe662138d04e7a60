import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { algorithm } from './flat/rendezvous.ts';
import { explainMembers } from './labels/explain-members.ts';
import { labelsAlgorithm } from './labels/labels.ts';
import { answerLabels, type LabelCase, labelCases } from './testing/label-vectors.contract.ts';
import { answer, type Case, cases, readVectorKey } from './testing/vectors.contract.ts';

interface File<T> {
  readonly algorithm: string;
  readonly vectors: (T & { answer: unknown })[];
}

function read<T>(id: string): File<T> {
  const path = join(import.meta.dirname, '..', 'vectors', `${id}.json`);
  return JSON.parse(readFileSync(path, 'utf8')) as File<T>;
}

describe('carillon-placement-1', () => {
  const file = read<Case>(algorithm);

  test('the file is for this algorithm, ids are unique, and every case is published', () => {
    expect(file.algorithm).toBe('carillon-placement-1');
    const ids = file.vectors.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(cases.map(({ id }) => id).toSorted());
  });

  test.each(file.vectors)('$id', (vector) => {
    expect(answer(vector)).toEqual(vector.answer);
  });
});

describe('carillon-labels-2', () => {
  const file = read<LabelCase>(labelsAlgorithm);

  test('the file is for this algorithm, ids are unique, and every case is published', () => {
    expect(file.algorithm).toBe('carillon-labels-2');
    const ids = file.vectors.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.toSorted()).toEqual(labelCases.map(({ id }) => id).toSorted());
  });

  test.each(file.vectors)('$id', (vector) => {
    expect(answerLabels(vector)).toEqual(vector.answer);
  });

  test('the rule as it is written for reading gives the published answers too', () => {
    for (const vector of file.vectors) {
      if (vector.kind !== 'place') continue;
      const { members, replicas, keys } = vector;
      const explained = keys.map(
        (key) => explainMembers(members, readVectorKey(key), replicas).replicas,
      );
      expect(explained).toEqual(vector.answer);
    }
  });
});
