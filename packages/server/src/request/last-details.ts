/**
 * The words of failing receivers for a page of timers: of each timer, the detail of its newest attempt. The member that
 * made the attempt remembers it, and it may be any of them, so every member is asked once for all timers of the page.
 */
import { hex16, type TimerRecord } from '@carillon/core';
import { failureOf } from '../timer/attempt.ts';
import type { AttemptsViewParts } from './attempts.ts';
import type { Detail } from '../replication/wire/answer.ts';
import type { Numbered } from '../replication/wire/parts.ts';

const nothing: Detail = { atMs: 0, text: '' };
/** Timers of one page whose words are asked for: with 256 bytes each they fit into one frame. */
const countMax = 500;

/**
 * By number, for records whose newest attempt failed. One without words, or that no member remembers, is not among
 * them.
 */
export async function lastDetails(
  parts: AttemptsViewParts,
  namespace: string,
  records: readonly TimerRecord[],
  names: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const numbers = records
    .filter(({ outcome }) => failureOf(outcome) !== null)
    .map(({ hi, lo }) => ({ hi, lo }))
    .slice(0, countMax);
  const found = new Map<string, Detail>();
  if (numbers.length === 0) return new Map();
  const told = await Promise.all(names.map((name) => detailsAt(parts, namespace, numbers, name)));
  for (const details of told) {
    for (const [i, { hi, lo }] of numbers.entries()) {
      const detail = details[i] ?? nothing;
      const key = hex16(hi, lo);
      if (detail.atMs > (found.get(key)?.atMs ?? 0)) found.set(key, detail);
    }
  }
  return new Map([...found].flatMap(([key, { text }]) => (text === '' ? [] : [[key, text]])));
}

/** None where the member does not answer, or is of a release that does not know the question. */
function detailsAt(
  { self, peers, history }: AttemptsViewParts,
  namespace: string,
  numbers: readonly Numbered[],
  name: string,
): Promise<readonly Detail[]> {
  if (name === self) return Promise.resolve(history.newest(namespace, numbers));
  return new Promise((resolve) => {
    if (peers === null || peers.silent(name)) return resolve([]);
    peers.send(name, { type: 'details', namespace, numbers }, (answer) =>
      resolve(answer?.type === 'details' ? answer.details : []),
    );
  });
}
