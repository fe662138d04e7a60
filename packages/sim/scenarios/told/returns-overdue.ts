/** A timer is cancelled while a replica is down; the replica returns when the timer would be overdue (P6). */
import { Story } from '../../src/story.ts';

export async function returnsOverdue(): Promise<{ story: Story; id: string }> {
  const story = await Story.begin({ members: ['m0', 'm1', 'm2'] });
  const { id, replicas } = await story.set({ seconds: 20, factor: 2 });
  const [a = '', b = ''] = replicas;
  story.cluster.member(a).crash({ power: true, wipe: false });
  await story.until(5);
  await story.cancel(id, b);
  await story.until(25);
  story.cluster.member(a).start();
  await story.until(60);
  return { story, id };
}
