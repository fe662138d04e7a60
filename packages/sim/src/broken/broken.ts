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

/** Several at once. */
export function together(...applies: readonly (() => Mend)[]): () => Mend {
  return () => {
    const mends = applies.map((apply) => apply());
    return () => {
      for (const mend of mends) mend();
    };
  };
}
