/**
 * A story for tests: a backup stands still while the primary tells of a pop of a cron timer, reads it late, and is then
 * alone.
 */
import { Story } from '../../../src/story.ts';

/** Of the pattern. */
const periodMs = 30_000;
/** P4: one period later at most. */
const allowedMs = periodMs;

/**
 * The pops that came later than twice the period, by their sequence; a time of the pattern that is left out makes all
 * later ones late.
 */
export async function lateCron(standsS = 26): Promise<{ story: Story; late: number[] }> {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const timing = { cron: '*/30 * * * * *', count: 6 };
  const { id, replicas } = await story.set({ seconds: 0, timing });
  const [primary = '', backup = ''] = replicas;
  // The story began at 5 s of the world: the first pop is at its 25 s.
  await story.until(24);
  story.cluster.member(backup).pause();
  await story.pass(1 + standsS);
  story.cluster.member(primary).crash({ power: true, wipe: false });
  story.cluster.member(backup).resume();
  await story.pass(300);
  const late: number[] = [];
  for (let sequence = 1; sequence <= 6; sequence++) {
    const call = story.calls(id).find((one) => one.sequence === sequence);
    const startMs = call?.startMs ?? Number.POSITIVE_INFINITY;
    if (startMs > sequence * periodMs + allowedMs) late.push(sequence);
  }
  return { story, late };
}
