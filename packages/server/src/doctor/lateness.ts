/** How late the callbacks of a member are, and whether the member is the reason. Pure. */
import type { MemberFacts } from './facts.ts';
import { recentMs } from './recent.ts';

const latenessLookMs = 1000;
/**
 * A backup pops 2 s after the replica before it. Percentiles are exact to a bucket of the histogram: the next limits
 * above one such step with some work, and above several.
 */
const oneBackupMsMax = 2500;
const moreBackupsMsMax = 10_000;

export function lateMsOf({ latenessP99Ms }: MemberFacts): number {
  return latenessP99Ms ?? 0;
}

export function isLate(member: MemberFacts): boolean {
  return lateMsOf(member) >= latenessLookMs;
}

/** Pops that fell due while it was down are late, and in the percentiles. */
function hasStartedLately({ upMs }: MemberFacts): boolean {
  return upMs < recentMs;
}

/** Members that it does not hear, or did not within the time of the percentiles. */
export function awayFrom({ silent: unheard, silentLately }: MemberFacts): string[] {
  return [...new Set([...unheard, ...silentLately])];
}

/** Whether its callbacks are no later than the callbacks that a backup makes in place of silent members. */
function isForOthers(member: MemberFacts): boolean {
  const { length } = awayFrom(member);
  return length > 0 && lateMsOf(member) <= (length === 1 ? oneBackupMsMax : moreBackupsMsMax);
}

/** Whether nothing but the member itself makes its callbacks late. */
export function isOwnLateness(member: MemberFacts): boolean {
  return !isForOthers(member) && !hasStartedLately(member);
}

/** Callbacks that members make late in place of others, in words; null: there are none. */
export function backupsTold(
  members: readonly MemberFacts[],
): { readonly says: string; readonly do: string } | null {
  const late = members.filter((member) => isLate(member) && isForOthers(member));
  if (late.length === 0) return null;
  const unheard = new Set(late.flatMap(({ silent: now }) => now));
  const isNow = unheard.size > 0;
  const names = [...(isNow ? unheard : new Set(late.flatMap(awayFrom)))].toSorted();
  const isOne = names.length === 1;
  const are = isNow
    ? isOne
      ? 'is silent'
      : 'are silent'
    : `${isOne ? 'was' : 'were'} silent in the last minutes`;
  const lateMs = Math.max(...late.map(lateMsOf));
  return {
    says: `${names.join(', ')} ${are}: backups ${isNow ? 'make' : 'made'} the callbacks of ${isOne ? 'its' : 'their'} timers, up to ${Math.round(lateMs)} ms late (99th percentile).`,
    do: isNow
      ? 'That is the step of a backup, as it should be. It ends when all members of the view answer, or silent ones are removed from it.'
      : 'That is the step of a backup, as it should be. The percentile forgets it within five minutes.',
  };
}
