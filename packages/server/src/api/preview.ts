/** When a timer would pop if it were set now, as clients read it. */
import type { Timing } from '@carillon/core';
import { type Static, Type } from 'typebox';
import { upcoming } from '../timer/upcoming.ts';
import { formatInstant } from './instant.ts';
import { localTimes } from './local-time.ts';

export const PreviewSchema = Type.Object({
  timezone: Type.String({
    description: 'IANA name of the zone of the local times.',
  }),
  pops: Type.Array(
    Type.Object({
      due: Type.String({ format: 'date-time', description: 'When the pop is due.' }),
      local: Type.String({
        format: 'date-time',
        description: 'The same instant by the clocks of the zone.',
      }),
    }),
    { description: 'The next pops, at most five.' },
  ),
  more: Type.Boolean({ description: 'Whether more pops follow.' }),
});

type PreviewJson = Static<typeof PreviewSchema>;

const popCount = 5;

/** `zone`: of the local times; null: that of the timing, or UTC. */
export function previewOf(timing: Timing, wallMs: number, zone: string | null): PreviewJson {
  const { dueMs, more } = upcoming(timing, wallMs, popCount);
  const timezone = zone ?? (timing.kind === 'cron' ? timing.timezone : null) ?? 'UTC';
  const local = localTimes(timezone, dueMs);
  const pops = dueMs.map((ms, i) => ({ due: formatInstant(ms), local: local[i] ?? '' }));
  return { timezone, pops, more };
}
