/**
 * The errors of this package. Nothing here depends on the outside world, so every error is a mistake in the input;
 * the message names the mistake, its place, and the right form.
 */

export type PlacementErrorCode =
  /** Two siblings, two targets, two levels or two expansions with one name. */
  | 'duplicate_id'
  /** An id that is empty, no text, or contains the path separator. */
  | 'bad_id'
  /** A weight that is negative, NaN, infinite, or no number. */
  | 'bad_weight'
  /** A level that the topology does not have. */
  | 'unknown_level'
  /** A domain, target or expansion that the topology does not have. */
  | 'unknown_vertex'
  /** A field that the form of a topology, policy, pool shape, account or target does not have. */
  | 'unknown_field'
  /** A lookup without an account where accounts see different parts of the topology. */
  | 'account_needed'
  /** A pool whose width changes, so that almost every key would move. */
  | 'pool_reshaped'
  /** A branch that ends above or below the last level. */
  | 'uneven_depth'
  /** A vertex that is its own descendant. */
  | 'cycle'
  /** A key that is neither text nor a 64-bit number. */
  | 'bad_key'
  /** Anything else that does not have the documented shape or range. */
  | 'bad_input'
  /** More vertices, levels, slots or replicas than this package accepts. */
  | 'too_large';

/**
 * Holds an assumption the code is built on: its failure is a bug here, never a mistake of the caller. The same function
 * is in `@carillon/core`, on which this package does not depend.
 */
export function invariant(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(`Broken invariant: ${why}`);
}

export class PlacementError extends Error {
  override readonly name = 'PlacementError';
  readonly code: PlacementErrorCode;
  /** The offending vertex, from the top: `eu/zone-a/rack-1`. Empty when the error is not about a vertex. */
  readonly path: string;

  constructor(code: PlacementErrorCode, message: string, path = '') {
    super(message);
    this.code = code;
    this.path = path;
  }
}
