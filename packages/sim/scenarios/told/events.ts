/** Stories of events: letters that come at several members at once. */
import { Story } from '../../src/story.ts';
import type { ReceivedCall } from '../../src/world/calls.ts';

const four = ['m0', 'm1', 'm2', 'm3'];
const no = { does: 'answer', status: 500, afterMs: 1 } as const;

/** Members that tell `default` of everything, with a wish of its own. */
export function eventConfig(quota: object): ReadonlyMap<string, unknown> {
  const kinds = ['dead-letter', 'letter-dropped', 'destination-failing', 'destination-well'];
  const events = { uri: 'http://events/', kinds, form: 'plain' };
  return new Map([['namespaces', { default: { events, ...quota } }]]);
}

export function eventsAt(story: Story, receiver = 'events'): ReceivedCall[] {
  return story.cluster.receivers.calls.filter((call) => call.receiver === receiver);
}

/** Four pops of each member, all due at 5 s of the story, are given up at once. */
export async function giveUpEverywhere(story: Story, names: readonly string[]): Promise<void> {
  story.cluster.receivers.behave('r0', no);
  const primaries = new Map(names.map((name) => [name, 0]));
  for (let i = 0; i < 200 && [...primaries.values()].some((count) => count < 4); i++) {
    const { id, replicas } = await story.set({
      seconds: 5 - story.seconds,
      retry: { 'max-attempts': 1 },
    });
    const [primary = ''] = replicas;
    const count = primaries.get(primary) ?? 0;
    if (count < 4) primaries.set(primary, count + 1);
    else await story.cancel(id);
  }
}

/** Two halves of a cluster that do not hear each other give up pops for one receiver. */
export async function splitInHalves() {
  const story = await Story.begin({ members: four, config: eventConfig({}) });
  await giveUpEverywhere(story, four);
  const mends = ['m0', 'm1'].flatMap((a) => ['m2', 'm3'].map((b) => story.part(a, b)));
  await story.until(40);
  for (const mend of mends) mend();
  await story.until(120);
  const letters = eventsAt(story).filter(({ body }) => body.includes('"dead-letter"'));
  const names = new Set(letters.map(({ popId }) => popId)).size;
  return { story, names, calls: letters.length };
}
