/**
 * A place where bytes from outside come in, as the fuzzer sees it: how to make an input, and how to put it in. Inputs
 * are always bytes, so that any of them can be shown, made smaller and tried again.
 */
import type { SeededRandom } from '@carillon/core/testing';

/** taken: it was understood. refused: with the error that is documented for that place. */
export type Verdict = 'taken' | 'refused';

/** Counts that must stay zero, and counts that show that something was tried. */
export interface Tally {
  addressesRefused: number;
  forbiddenConnections: number;
  strangersLetIn: number;
  serverErrors: number;
}

export interface Surface extends Partial<AsyncDisposable> {
  readonly name: string;
  /** Of all inputs, in relation to the others. */
  readonly share: number;
  /** Bytes that this place may remember for good, in caches that are bounded. */
  readonly keepsBytes?: number;
  make(random: SeededRandom): Uint8Array;
  /** Throws an error that is not documented for this place when there is a fault; the fuzzer looks for that. */
  put(input: Uint8Array): Verdict | Promise<Verdict>;
}

/** Thrown by `put` when nothing was thrown but a rule does not hold. */
export class BrokenRule extends Error {
  override readonly name = 'BrokenRule';
}

export function hold(condition: boolean, rule: string): asserts condition {
  if (!condition) throw new BrokenRule(rule);
}

type ErrorClass = abstract new (...given: never[]) => Error;

/** Runs `work`, which may throw only errors of these classes. */
export function allowing(documented: readonly ErrorClass[], work: () => unknown): Verdict {
  try {
    work();
    return 'taken';
  } catch (error) {
    if (documented.some((one) => error instanceof one)) return 'refused';
    throw error;
  }
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export const textOf = (bytes: Uint8Array): string => decoder.decode(bytes);
export const bytesOf = (text: string): Uint8Array => encoder.encode(text);
