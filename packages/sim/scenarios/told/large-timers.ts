/** Timers whose opaque is as long as is allowed, for tests. */
import { Story, timerBody, type Wish } from '../../src/story.ts';

export const members = ['m0', 'm1', 'm2'];
const KiB = 1024;
export const MiB = 1024 * KiB;
export const opaque = 'x'.repeat(64 * KiB);

export interface Page {
  readonly timers: readonly { readonly id: string }[];
  readonly cursor: string | null;
  readonly missing: readonly string[];
}

/** Frames are cut off far below the limit of the real network, so that a hundred timers are many. */
export async function begin(): Promise<Story> {
  const story = await Story.begin({ members });
  story.cluster.cables.frameBytesMax = 4 * MiB;
  // 1 Gbit/s.
  story.cluster.cables.bytesPerMs = 125_000;
  return story;
}

export function numberOf(id: string): string {
  return id.slice(0, 16);
}

export interface Outcome {
  readonly id: string;
  readonly copies: string;
}

/** Timers that are set by one request. */
export async function setAtOnce(
  story: Story,
  count: number,
  wish: Partial<Wish>,
): Promise<Outcome[]> {
  const content = Array.from({ length: count }, () => timerBody({ seconds: 600, opaque, ...wish }));
  const { body } = await story.request({ method: 'POST', path: '/timers/batch', content });
  return JSON.parse(body) as Outcome[];
}

/** A hundred timers, with two copies each, at the beginning of their time. */
export async function setHundred(story: Story, wish: Partial<Wish>): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let i = 0; i < 5; i++) outcomes.push(...(await setAtOnce(story, 20, wish)));
  return outcomes;
}
