/** A net-split between real processes: both sides go on, nothing is lost, and repeated pops can be told apart. */
import { afterEach, describe, expect, test } from 'vitest';
import { Namespaces } from './support/namespaces.ts';
import { Story } from './support/story.ts';

const obstacle = Namespaces.obstacle();
if (obstacle !== null) console.warn(`The tests of net-splits are skipped: ${obstacle}.`);

const opened: { end(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one.end();
}, 60_000);

const names = ['n0', 'n1', 'n2'];

describe.skipIf(obstacle !== null)('a net-split under load', () => {
  test('one member is cut off from the two others, and healed', async () => {
    const namespaces = Namespaces.create(names.length);
    opened.push(namespaces);
    const { hostAddress } = namespaces;
    const story = await Story.begin({
      names,
      hostOf: (index) => namespaces.addressOf(index),
      viaOf: (index) => namespaces.via(index),
      receiverHost: hostAddress,
      flags: ['--callbacks-allow', `${hostAddress}/32`, '--insecure-no-auth'],
    });
    opened.push(story);
    story.load.start();
    await story.pass(1000, 2000);
    const lonely = story.random.between(0, 2);
    const over = story.court.fault('network', `${names[lonely]} was cut off`);
    const heal = [0, 1, 2].filter((i) => i !== lonely).map((i) => namespaces.cut(lonely, i));
    await story.pass(5000, 6000);
    for (const undo of heal) undo();
    over();
    await story.cluster.seeEachOther();
    await story.pass(1000, 2000);
    expect(await story.finish('split')).toEqual([]);
  });
});
