/** How late a member says that its callbacks began: its histogram, before and after a while. */

/** Upper bound in milliseconds → pops so far that were no later. */
export type Lateness = ReadonlyMap<number, number>;

const line = /^carillon_pop_lateness_seconds_bucket\{le="([^"]+)"\} (\d+)/gm;

export async function ownLateness(url: URL): Promise<Lateness> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  return new Map(
    [...text.matchAll(line)].map(([, bound, count]) => [
      bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound) * 1000,
      Number(count),
    ]),
  );
}

/** The smallest bound that a share of the pops between two looks kept; null: there were none. */
export function boundOf(before: Lateness, after: Lateness, share: number): number | null {
  const counts = [...after].map(
    ([bound, count]) => [bound, count - (before.get(bound) ?? 0)] as const,
  );
  const all = counts.at(-1)?.[1] ?? 0;
  return all === 0 ? null : (counts.find(([, count]) => count >= all * share)?.[0] ?? null);
}
