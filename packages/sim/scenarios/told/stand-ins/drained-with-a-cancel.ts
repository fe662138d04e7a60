/**
 * A story for tests: a timer is cancelled while a replica of it is cut off, and the members that know of the cancel are
 * drained one after the other before the net-split heals.
 */
import { Story } from '../../../src/story.ts';
import { viewMember } from '../../../src/world/views.ts';

const members = ['m0', 'm1', 'm2', 'm3'];

/** How many callbacks come; -1: a drain did not come to its end. */
export async function drainedWithACancel(factor: number, seed: number): Promise<number> {
  const story = await Story.begin({ members, seed });
  const { id, replicas } = await story.set({ seconds: 200, factor });
  const [cutOff = ''] = replicas;
  const others = members.filter((name) => name !== cutOff);
  await story.until(5);
  const mends = others.map((name) => story.part(cutOff, name));
  await story.pass(10);
  await story.cancel(id, others[0]);
  await story.pass(10);
  const knowing = others.filter((name) => story.record(id, name) !== undefined);
  let rest = members;
  for (const leaver of knowing.slice(0, 2)) {
    rest = rest.filter((name) => name !== leaver);
    if (!(await drain(story, leaver, rest))) return -1;
  }
  for (const mend of mends) mend();
  await story.until(450);
  if (story.bugs.length > 0) throw new Error(story.bugs.join('; '));
  return story.calls(id).length;
}

/** Whether the member has given everything away within a minute; then it is off the list. */
async function drain(story: Story, leaver: string, rest: readonly string[]): Promise<boolean> {
  const gone: string[] = [];
  const drained = (): void => {
    gone.push(leaver);
    story.cluster.views.change(rest.map((name) => viewMember(name)));
  };
  void story.cluster.member(leaver).drain().then(drained);
  for (let i = 0; i < 120 && gone.length === 0; i++) await story.pass(0.5);
  return gone.length > 0;
}
