/** Each second of a soak: the memory of each member, and how late the callbacks of that second came. */
import type { Story } from '../../test/e2e/support/story.ts';
import { latenessAt } from '../../test/e2e/support/recorder.ts';

export interface Sample {
  readonly second: number;
  /** Name → bytes; members that do not answer are left out. */
  readonly rssBytes: Readonly<Record<string, number>>;
  readonly callbacks: number;
  /** null: there were no callbacks. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export class Sampler {
  private readonly samples: Sample[] = [];
  private readonly story: Story;
  private readonly startMs = performance.now();
  private readonly interval: NodeJS.Timeout;
  private seen = 0;
  private taking: Promise<void> = Promise.resolve();
  private busy = false;

  constructor(story: Story) {
    this.story = story;
    this.interval = setInterval(() => {
      // A member that stands still answers later; its second is not taken twice.
      if (this.busy) return;
      this.busy = true;
      this.taking = this.take().finally(() => {
        this.busy = false;
      });
    }, 1000);
  }

  async stop(): Promise<readonly Sample[]> {
    clearInterval(this.interval);
    await this.taking;
    return this.samples;
  }

  private async take(): Promise<void> {
    const { cluster, recorder } = this.story;
    const read = cluster.running.map(async (member) => {
      const bytes = await member.metric(/^process_resident_memory_bytes/).catch(() => 0);
      return [member.name, bytes] as const;
    });
    const rssBytes = Object.fromEntries((await Promise.all(read)).filter(([, bytes]) => bytes > 0));
    const calls = recorder.calls.slice(this.seen);
    this.seen = recorder.calls.length;
    const at = (share: number): number | null =>
      calls.length === 0 ? null : latenessAt(calls, share);
    const second = Math.round((performance.now() - this.startMs) / 1000);
    this.samples.push({
      second,
      rssBytes,
      callbacks: calls.length,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    });
  }
}
