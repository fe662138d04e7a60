/**
 * One namespace does its worst at a real member; timers of another are accepted, come once and in time, and none fails.
 */
import { expect, test } from 'vitest';
import {
  factsOf,
  grownBytesMax,
  lateMsMax,
  statusAfter,
  tenantRun,
  unharmed,
  worst,
} from './support/tenants.ts';

test.each(worst)(
  'one namespace with %s: timers of another come once, at p99 no more than twice as late as before or 50 ms late',
  { timeout: 180_000 },
  async (name) => {
    const result = await tenantRun(name, { quietMs: 2000, attackedMs: 5000 });
    const { quietP99Ms, attackedP99Ms, waitedMs, grownBytes, pops, statuses } = result;
    console.log(
      `${pops} pops, p99 lateness ${quietP99Ms} ms before, ${attackedP99Ms} ms during the attack, ${Math.round(waitedMs)} ms without a processor, ${grownBytes >> 20} MiB more`,
    );
    expect(factsOf(result)).toEqual(unharmed);
    expect(statuses.bad).toBe(statusAfter(name));
    expect(attackedP99Ms).toBeLessThanOrEqual(lateMsMax(result));
    expect(grownBytes).toBeLessThan(grownBytesMax);
  },
);
