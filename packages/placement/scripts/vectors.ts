/**
 * Writes `vectors/carillon-placement-1.json`: inputs with the answers every implementation of the algorithm must
 * give, each with an id. Run after adding a case; an existing answer must never change.
 *
 *   node --conditions=source packages/placement/scripts/vectors.ts
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answer, cases } from '../src/testing/vectors.contract.ts';
import { algorithm } from '../src/index.ts';

const path = join(import.meta.dirname, '..', 'vectors', `${algorithm}.json`);
const vectors = cases.map((one) => ({ ...one, answer: answer(one) }));
writeFileSync(path, `${JSON.stringify({ algorithm, vectors }, null, 2)}\n`);
console.log(`${vectors.length} vectors written to ${path}`);
