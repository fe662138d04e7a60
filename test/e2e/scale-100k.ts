/**
 * Three members with 100,000 timers become four while 1,000 pops a second go on. Prints how many timers moved and how
 * long it took; exits 1 when a promise was broken. `npm run show:scale [-- TIMERS [POPS A SECOND]]`
 */
import { scaleUp } from './support/scale-up.ts';
import { Story } from './support/story.ts';

const [timers = 100_000, popsPerSecond = 1000] = process.argv.slice(2).map(Number);
const story = await Story.begin({ names: ['n0', 'n1', 'n2'] });
try {
  const result = await scaleUp(story, { timers, popsPerSecond, limitMs: 300_000 });
  const share = ((100 * result.moved) / timers).toFixed(2);
  console.log(`primaries moved: ${result.moved} of ${timers}, ${share} %`);
  console.log(`… to others than the new member: ${result.movedElsewhere}`);
  console.log(`timers without exactly their two copies: ${result.after.wrong.length}`);
  for (const wrong of result.after.wrong.slice(0, 10)) console.log(`  ${wrong}`);
  console.log(
    `took ${Math.round(result.tookMs)} ms, with ${result.popsMeanwhile} pops meanwhile; ` +
      `${Math.round(result.cpuMs)} ms of processor time in the four members`,
  );
  console.log(story.summary());
  for (const one of result.broken) console.log(one);
  const moved = Math.abs(result.moved / timers - 1 / 4) < 0.02 && result.movedElsewhere === 0;
  if (!moved || result.broken.length + result.after.wrong.length > 0) process.exitCode = 1;
} finally {
  await story.end();
}
