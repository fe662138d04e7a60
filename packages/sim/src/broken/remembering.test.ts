/** A test of the tests: a member whose pops wait for its history is noticed. */
import { expect } from 'vitest';
import { Story } from '../story.ts';
import { everyVariantIsNoticed } from './noticing.contract.ts';
import { remembering } from './remembering.ts';

everyVariantIsNoticed(remembering, {
  // P2.
  'a pop is not over while the history cannot be written': async () => {
    const story = await Story.begin({ members: ['m0'] });
    const disk = story.cluster.member('m0').storage ?? expect.fail('no disk');
    const create = disk.create.bind(disk);
    disk.create = (name, aheadBytes) =>
      name.startsWith('history') ? Promise.reject(new Error('broken')) : create(name, aheadBytes);
    const { id } = await story.set({ seconds: 10, times: 5 });
    await story.until(120);
    return { story, kept: story.calls(id).length === 5 };
  },
});
