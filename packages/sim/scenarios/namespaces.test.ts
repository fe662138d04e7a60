/** Two namespaces on the same members: an operation in one never touches the other, under any fault. */
import { expect, test } from 'vitest';
import { Story } from '../src/story.ts';

const three = ['m0', 'm1', 'm2'];
const id = '0000000000000001-2';

/** The opaque of every callback so far, with its sequence. */
function heard(story: Story): string[] {
  return story.cluster.receivers.calls.map(({ body, sequence }) => `${body} ${sequence}`);
}

function as(story: Story, namespace: string): Story {
  story.namespace = namespace;
  return story;
}

test('namespaces: the same id in two of them is two timers, over a crash, a split and a return (R=2)', async () => {
  const story = await Story.begin({ members: three });
  const one = await as(story, 'one').replace(id, { seconds: 20, times: 3, opaque: 'one' });
  const two = await as(story, 'two').replace(id, { seconds: 20, times: 3, opaque: 'two' });
  expect([one.id.slice(0, 16), two.id.slice(0, 16)]).toEqual([id.slice(0, 16), id.slice(0, 16)]);
  await story.until(25);
  expect(heard(story).toSorted()).toEqual(['one 1', 'two 1']);
  const [gone = ''] = one.replicas;
  story.cluster.member(gone).crash({ power: true, wipe: false });
  const [left = '', right = ''] = three.filter((name) => name !== gone);
  await story.until(30);
  await as(story, 'one').cancel(one.id, left);
  const mend = story.part(left, right);
  await story.until(45);
  mend();
  story.cluster.member(gone).start();
  await story.until(120);
  expect(heard(story).filter((pop) => pop.startsWith('one'))).toEqual(['one 1']);
  const others = heard(story).filter((pop) => pop.startsWith('two'));
  expect(new Set(others)).toEqual(new Set(['two 1', 'two 2', 'two 3']));
  expect(story.bugs).toEqual([]);
});

test('namespaces: a timer cannot be cancelled, replaced or read from another namespace, at any member (R=3)', async () => {
  const story = await Story.begin({ members: three });
  const theirs = await as(story, 'one').set({ seconds: 30, factor: 3, opaque: 'one' });
  for (const via of three) {
    as(story, 'two');
    expect((await story.cancel(theirs.id, via)).status).toBe(200);
    expect(await story.shown(theirs.id, via)).toBeNull();
    await story.replace(theirs.id, { seconds: 40, factor: 3, opaque: 'two' }, via);
    expect(as(story, 'one').holders(theirs.id).toSorted()).toEqual(three);
    expect(await story.shown(theirs.id, via)).toMatchObject({ state: 'pending', id: theirs.id });
  }
  await story.until(100);
  expect(heard(story)).toEqual(['one 1', 'two 1']);
});
