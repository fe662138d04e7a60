/** A test of the tests: a member that tells of a thing by itself, or of its own telling, is noticed. */
import { eventConfig, eventsAt, giveUpEverywhere } from '../../scenarios/told/events.ts';
import { Story } from '../story.ts';
import { everyVariantIsNoticed } from './noticing.contract.ts';
import { telling } from './telling.ts';

const three = ['m0', 'm1', 'm2'];
const gone = { does: 'answer', status: 410, afterMs: 1 } as const;

everyVariantIsNoticed(telling, {
  'each member makes an event of its own': async () => {
    const story = await Story.begin({ members: three, config: eventConfig({}) });
    await giveUpEverywhere(story, three);
    await story.until(30);
    return { story, kept: eventsAt(story).length === 1 };
  },
  'an event that is given up is worth an event': async () => {
    const story = await Story.begin({ members: three, config: eventConfig({}) });
    story.cluster.receivers.behave('r0', gone);
    story.cluster.receivers.behave('events', gone);
    await story.set({ seconds: 5 });
    await story.until(300);
    return { story, kept: eventsAt(story).length === 1 };
  },
});
