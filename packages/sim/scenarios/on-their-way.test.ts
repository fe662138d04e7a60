/**
 * P7: "Every request can go to any member", also one for a timer that is on its way from a member that leaves: 404 is
 * the answer only where no member has it.
 */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';
import { wellMannered } from '../src/world/receivers.ts';

const members = ['m0', 'm1', 'm2', 'm3'];

/** One request for each path, all at the same moment; resolves with their statuses. */
async function statuses(
  story: Story,
  asked: { readonly method: string; readonly via: string },
  paths: readonly string[],
): Promise<readonly number[]> {
  const answers: number[] = [];
  paths.forEach((path, i) => {
    story.send({ ...asked, path }, (answer) => {
      answers[i] = answer?.status ?? 0;
    });
  });
  await story.pass(3);
  return answers;
}

test.each([5, 10, 50])(
  'a member drains, and %d ms later its timers are read through another member: each is found (R=1)',
  async (ms) => {
    const story = await Story.begin({ members });
    const paths: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { id } = await story.set({ seconds: 300, factor: 1 });
      paths.push(`/timers/${id}`);
    }
    // Until the view of the start has settled.
    await story.pass(10);
    void story.cluster.member('m1').drain();
    await story.pass(ms / 1000);
    const read = await statuses(story, { method: 'GET', via: 'm2' }, paths);
    expect(read).toEqual(paths.map(() => 200));
  },
);

test.each([5, 50, 160])(
  'a member drains, and %d ms later its dead letters are sent again through another member: each is called back once (R=1)',
  async (ms) => {
    const story = await Story.begin({ members });
    const { receivers } = story.cluster;
    receivers.behave('r0', { does: 'answer', status: 503, afterMs: 1 });
    const timers: string[] = [];
    for (let i = 0; i < 12; i++) {
      const { id } = await story.set({ seconds: 60, factor: 1, retry: { 'max-attempts': 1 } });
      timers.push(id);
    }
    await story.until(70);
    receivers.behave('r0', wellMannered);
    const letters = await story.deadLetters();
    expect(letters).toHaveLength(12);
    const paths = letters.map(({ id }) => `/dead-letters/${id}/redeliver`);
    void story.cluster.member('m1').drain();
    await story.pass(ms / 1000);
    const sent = await statuses(story, { method: 'POST', via: 'm2' }, paths);
    expect(sent).toEqual(paths.map(() => 200));
    await story.pass(30);
    expect(timers.map((id) => story.calls(id).length)).toEqual(timers.map(() => 2));
  },
);
