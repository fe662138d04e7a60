/** Small instruments of the ring's benchmarks. */

export type Report = (line: string) => void;

/** Wall and CPU time of this process since it was made. */
export class Cpu {
  private readonly startMs = performance.now();
  private readonly start = process.cpuUsage();

  read(): { seconds: number; cpuSeconds: number } {
    const { user, system } = process.cpuUsage(this.start);
    return {
      seconds: (performance.now() - this.startMs) / 1000,
      cpuSeconds: (user + system) / 1e6,
    };
  }
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const index = Math.ceil((percent / 100) * sorted.length) - 1;
  return sorted[Math.max(0, index)] ?? Number.NaN;
}

export async function until(condition: () => boolean): Promise<void> {
  const limitMs = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > limitMs) throw new Error('The ring did not settle within 30 s.');
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
