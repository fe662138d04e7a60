/**
 * P5: a member that takes long to read its disk, and then to reach the others, does not repeat pops that they made
 * meanwhile.
 */
import type { MemoryDisk } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const three = ['m0', 'm1', 'm2'];
const seconds = 2;
/** First connections take their time. */
const firstWayMs = 200;

function slow(disk: MemoryDisk | null, latencyMs: number): void {
  if (disk === null) throw new Error('the members of a story have disks');
  disk.latencyMs = latencyMs;
}

test.each(
  [40, 80, 120].flatMap((latencyMs) =>
    Array.from({ length: 7 }, (_, i) => ({ latencyMs, afterS: i * 0.15 })),
  ),
)(
  'its turn comes while it reads, after the pop it missed: the pop is not made again (R=2): %j',
  async ({ latencyMs, afterS }) => {
    const story = await Story.begin({ members: three });
    const { cluster } = story;
    const { id, replicas } = await story.set({ seconds });
    const [, second = ''] = replicas;
    await story.pass(seconds - 0.1);
    const member = cluster.member(second);
    member.crash({ power: false, wipe: false });
    await story.pass(0.1 + afterS);
    expect(story.calls(id).length).toBe(1);
    cluster.cables.delayMs = firstWayMs;
    slow(member.storage, latencyMs);
    member.start();
    while (!member.healthy) await story.pass(0.01);
    await story.pass(firstWayMs / 1000);
    cluster.cables.delayMs = 1;
    slow(member.storage, 1);
    await story.pass(10);
    expect(story.calls(id).map(({ sequence }) => sequence)).toEqual([1]);
    expect(story.bugs).toEqual([]);
  },
);
