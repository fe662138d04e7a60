import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { recordOf } from '../testing/records.ts';
import { Awake } from './awake.ts';
import type { PopRules } from './pop-rules.ts';
import { Readiness } from './readiness.ts';

test.each([
  // Handed on while it is due, to a member that has just started.
  { startedMs: 10_070, arrivesMs: 10_075, looksMs: [75, 175, 195] },
  { startedMs: 15_000, arrivesMs: 15_000, looksMs: [5000, 5100, 5125] },
  { startedMs: 9900, arrivesMs: 10_000, looksMs: [0, 100, 125] },
])(
  'a pop waits for news for half of its gap, and no longer: member started at $startedMs, record there at $arrivesMs',
  async ({ startedMs, arrivesMs, looksMs }) => {
    const clock = new VirtualClock();
    const record = recordOf({ dueMs: 10_000, startMs: 0, gapMs: 250, replicas: ['a'] });
    const readiness = new Readiness({
      clock,
      awake: new Awake(startedMs, ({ retryMs }) => retryMs),
      granting: { heldUntilMs: () => null },
      batches: { waitMs: () => 0 },
      rules: {} as PopRules,
      instant: () => ({ nowMs: clock.now(), wallMs: clock.wall() }),
      holds: () => true,
    });
    await clock.advance(arrivesMs - clock.now());
    const looks: number[] = [];
    for (let againMs: number | null = 0; againMs !== null; ) {
      looks.push(clock.now() - 10_000);
      againMs = readiness.heldUntilMs(0, record);
      if (againMs !== null) await clock.advance(againMs - clock.now());
    }
    expect(looks).toEqual(looksMs);
  },
);
