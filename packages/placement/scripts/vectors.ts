/**
 * Writes `vectors/carillon-placement-1.json` and `vectors/carillon-labels-2.json`: inputs with the answers every
 * implementation of the algorithm must give, each with an id. Run after adding a case; an existing answer must never
 * change.
 *
 *   node --conditions=source packages/placement/scripts/vectors.ts
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerLabels, labelCases } from '../src/testing/label-vectors.contract.ts';
import { answer, cases } from '../src/testing/vectors.contract.ts';
import { algorithm, labelsAlgorithm } from '../src/index.ts';

write(
  algorithm,
  cases.map((one) => ({ ...one, answer: answer(one) })),
);
write(
  labelsAlgorithm,
  labelCases.map((one) => ({ ...one, answer: answerLabels(one) })),
);

function write(id: string, vectors: readonly object[]): void {
  const path = join(import.meta.dirname, '..', 'vectors', `${id}.json`);
  writeFileSync(path, `${JSON.stringify({ algorithm: id, vectors }, null, 2)}\n`);
  console.log(`${vectors.length} vectors written to ${path}`);
}
