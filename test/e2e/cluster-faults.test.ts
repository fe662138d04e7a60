/** A cluster of real processes on a members file, under load, with members that die, stand still and are restarted. */
import { afterEach, describe, expect, test } from 'vitest';
import { Story, type StoryOptions } from './support/story.ts';

const stories: Story[] = [];
afterEach(async () => {
  await Promise.all(stories.splice(0).map((story) => story.end()));
}, 60_000);

async function begin(options: StoryOptions): Promise<Story> {
  const story = await Story.begin(options);
  stories.push(story);
  story.load.start();
  return story;
}

/** `CARILLON_E2E_LONG=1`: more rounds, and pauses of up to 20 s. */
const long = process.env['CARILLON_E2E_LONG'] === '1';
const pauseMsMax = long ? 20_000 : 3000;
const rounds = long ? 4 : 1;

describe('members of a file, under load', () => {
  test('factor 3 of 4 members: any two are killed at random moments, and come back', async () => {
    const story = await begin({ names: ['n0', 'n1', 'n2', 'n3'], load: { factor: 3 } });
    for (let round = 0; round < rounds; round++) {
      await story.pass(500, 2500);
      const [one, other] = drawTwo(story);
      const revive = await story.kill(one);
      await story.pass(0, 1500);
      const reviveOther = await story.kill(other);
      await story.pass(500, 2500);
      await Promise.all([revive(), reviveOther()]);
      await story.cluster.seeEachOther();
    }
    expect(await story.finish('killed')).toEqual([]);
  });

  test('members stand still for seconds and go on', async () => {
    const story = await begin({ names: ['n0', 'n1', 'n2'] });
    for (const member of story.cluster.members.values()) {
      await story.pass(500, 1500);
      await story.pause(member, 1000 + story.random.unit() * (pauseMsMax - 1000));
      await story.cluster.seeEachOther();
    }
    expect(await story.finish('paused')).toEqual([]);
  });

  test('a rolling restart is no fault: every pop comes once', async () => {
    const story = await begin({ names: ['n0', 'n1', 'n2'] });
    for (const member of story.cluster.members.values()) {
      await story.pass(500, 1500);
      expect(await member.stop()).toEqual({ code: 0, signal: null });
      await member.start();
      await story.cluster.seeEachOther();
    }
    expect(await story.finish('restarted')).toEqual([]);
  });
});

function drawTwo(story: Story) {
  const all = [...story.cluster.members.values()];
  const one = story.random.pick(all);
  return [one, story.random.pick(all.filter((member) => member !== one))] as const;
}
