/** The timers that the benchmarks set: 64 bytes of opaque, as design.md has it. */

const opaque = 'x'.repeat(64);

export function timer(intervalSeconds: number, uri: string): string {
  return JSON.stringify({
    timing: { interval: intervalSeconds },
    callback: { http: { uri, opaque } },
  });
}

export function batch(count: number, intervalSeconds: number, uri: string): string {
  return `[${Array.from({ length: count }, () => timer(intervalSeconds, uri)).join(',')}]`;
}

export function thousands(value: number): string {
  return value >= 100_000 ? `${Math.round(value / 1000)} k` : `${(value / 1000).toFixed(1)} k`;
}

export function percentile(sorted: readonly number[], ratio: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * ratio))] ?? Number.NaN;
}
