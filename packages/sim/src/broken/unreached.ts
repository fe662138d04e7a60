/**
 * A story for tests: a member starts while another one makes a pop that it slept over, and cannot reach that one at
 * first: its connections are not there yet.
 */
import { Peers } from '@carillon/server/internal';
import { Story } from '../story.ts';
import { type Mend, replaces } from './broken.ts';

const three = ['m0', 'm1', 'm2'];

/** Claims of the second replica do not leave it before this moment of the story. */
function unreachedUntil(story: Story, untilS: number): Mend {
  const apply = replaces(Peers.prototype, 'send', ({ original, part }, to, message, done) => {
    const isLost = message.type === 'claim' && message.position > 0 && story.seconds < untilS;
    if (isLost) done(null);
    else original.call(part, to, message, done);
  });
  return apply();
}

export async function unreached(startS = 6.7) {
  const story = await Story.begin({ members: three });
  story.cluster.receivers.behave('r0', { does: 'answer', status: 200, afterMs: 4500 });
  const { id, replicas } = await story.set({ seconds: 5 });
  const second = story.cluster.member(replicas[1] ?? '');
  await story.until(3);
  second.crash({ power: false, wipe: false });
  await story.until(startS);
  const mend = unreachedUntil(story, 7.4);
  try {
    second.start();
    await story.until(60);
  } finally {
    mend();
  }
  return { story, calls: story.calls(id) };
}
