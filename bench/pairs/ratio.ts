/**
 * The figures of pairs: two members that took turns side by side, several times. Pure.
 *
 * Each turn of A is compared with the turn of B beside it. The median of all these ratios counts: a turn in which the
 * machine did something else changes it little, and so does a pair whose member was compiled unluckily.
 */

/** Microseconds of CPU for a set and for a pop. */
export interface Costs {
  readonly set: number;
  readonly pop: number;
}

/** The costs of both members, turn by turn. */
export interface Pair {
  readonly a: readonly Costs[];
  readonly b: readonly Costs[];
}

/** Medians of A, of B and of A ÷ B over all turns; the quartiles are of the medians of single pairs. */
export interface Ratio {
  readonly a: number;
  readonly b: number;
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

export function ratioOf(pairs: readonly Pair[], key: keyof Costs): Ratio {
  const ratios = pairs.map(({ a, b }) => a.map((turn, i) => turn[key] / (b[i] as Costs)[key]));
  const medians = ratios.map((ofPair) => quantile(ofPair, 0.5));
  const median = (turns: readonly Costs[]): number =>
    quantile(
      turns.map((turn) => turn[key]),
      0.5,
    );
  return {
    a: median(pairs.flatMap(({ a }) => a)),
    b: median(pairs.flatMap(({ b }) => b)),
    low: quantile(medians, 0.25),
    middle: quantile(ratios.flat(), 0.5),
    high: quantile(medians, 0.75),
  };
}

/** The value below which so large a share of the values lies. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((x, y) => x - y);
  return sorted[Math.round(share * (sorted.length - 1))] ?? Number.NaN;
}
