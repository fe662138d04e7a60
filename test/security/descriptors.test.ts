/** A member without a free descriptor goes on with the files and connections that it has open. */
import { describe, expect, test } from 'vitest';
import { serve } from '../e2e/cli-process.ts';
import { crowdAt, endedWell, removed, served, setsMeanwhile, take } from './out-of-descriptors.ts';

/** Longer than any member waits between two looks at its files and at the addresses of its machine. */
const seconds = 11;
const confirmed = Array<unknown>(seconds).fill(200);

// Only Linux has prlimit.
describe.runIf(process.platform === 'linux')('with 256 descriptors', { concurrent: true }, () => {
  test('and a crowd: the process lives, and serves again when the crowd leaves', async () => {
    const one = await served();
    const crowd = await crowdAt(one);
    expect(await setsMeanwhile(one, seconds)).toEqual(confirmed);
    for (const socket of crowd) socket.destroy();
    expect(await endedWell(one)).toBe(0);
    await removed(one);
  });

  test('all of them taken: sets of open connections are confirmed, and nothing is taken for damaged', async () => {
    const one = await served();
    take(one, 'all');
    expect(await setsMeanwhile(one, seconds)).toEqual(confirmed);
    take(one, 'none');
    expect(await endedWell(one)).toBe(0);
    const again = await serve(['--data', one.folder]);
    const answer = await fetch(`${again.url}/cluster`);
    expect(await answer.json()).toMatchObject({ damage: null });
    expect(await (await fetch(`${again.url}/metrics`)).text()).toContain(
      `carillon_timers{state="pending"} ${seconds + 1}\n`,
    );
    await again.process.kill('SIGKILL');
    await removed(one);
  });
});
