/**
 * Members that break a rule on purpose, to see that a promise is then broken: a test of the checkers, the seeds and the
 * stories. Each variant replaces methods of the production code while it is in force; the code itself knows nothing of
 * them. Methods are named as the compiler knows them, so one that is renamed or takes something else is an error here.
 */
export interface Broken {
  readonly name: string;
  /** Breaks the rule; the returned function mends it. */
  readonly apply: () => Mend;
}

export type Mend = () => void;

type Given<F> = F extends (...given: infer G) => unknown ? G : never;
type Result<F> = F extends (...given: never[]) => infer R ? R : never;

/** The method that is replaced, and the part at which it is called. */
interface Replaced<T, F> {
  readonly original: F;
  readonly part: T;
}

/**
 * Replaces one method of a part. The replacement is given that method and the part, then the parameters of the call.
 *
 * Example: `replaces(insides.claiming, 'renew', () => undefined)` makes members that never renew a claim.
 */
export function replaces<T extends object, K extends keyof T>(
  prototype: T,
  name: K,
  replacement: (replaced: Replaced<T, T[K]>, ...given: Given<T[K]>) => Result<T[K]>,
): () => Mend {
  return () => {
    const original = prototype[name];
    prototype[name] = function (this: T, ...given: Given<T[K]>) {
      return replacement({ original, part: this }, ...given);
    } as T[K];
    return () => {
      prototype[name] = original;
    };
  };
}

/** Several at once. */
export function together(...applies: readonly (() => Mend)[]): () => Mend {
  return () => {
    const mends = applies.map((apply) => apply());
    return () => {
      for (const mend of mends) mend();
    };
  };
}
