/** A receiver's word on pops that come together, from the headers of its answer. */
import type { Together } from '@carillon/core';

/** More lines than any request has. */
const lineCountMax = 10_000;

/**
 * Reads `X-Timer-Batch: 500` and `X-Timer-Failed: 3, 17`. undefined: the first is not a number from 1 up. A second one
 * that is no list of numbers is ignored: the status is then for all lines.
 */
export function togetherOf(batch: string, failed: string | undefined): Together | undefined {
  if (!/^[1-9]\d{0,5}$/.test(batch)) return undefined;
  return { countMax: Number(batch), failed: failed === undefined ? null : linesOf(failed) };
}

function linesOf(text: string): readonly number[] | null {
  const parts = text.split(',', lineCountMax + 1).map((part) => part.trim());
  const isList = parts.length <= lineCountMax && parts.every((part) => /^\d{1,5}$/.test(part));
  return isList ? parts.map(Number) : null;
}
