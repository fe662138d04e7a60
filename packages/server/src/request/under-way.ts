/**
 * Changes of one timer that clients ask this member for at the same time. Of two of them the one that came later wins,
 * and a replica that has the later one needs the earlier one no more. If each were made again above the other, as above
 * a newer version of another member, both would go on until one gives up, and undo a change that is confirmed
 * meanwhile.
 *
 * Example: a replica does not answer, so a replace takes a second. Its client asks again after half a second, and then
 * cancels the timer: of the three changes under way here the cancel is the last one, and stays.
 */
import { compareVersions, hex16, stampedByOne, type Version } from '@carillon/core';
import type { Numbered } from '../replication/wire/parts.ts';

export interface Overtakable {
  readonly key: string;
  /** The version of the newest change that came after this one; null: none did. */
  overtakenBy: Version | null;
}

export class ChangesUnderWay {
  /** In the order in which they came. */
  private readonly byTimer = new Map<string, Set<Overtakable>>();

  begin({ hi, lo }: Numbered): Overtakable {
    const change: Overtakable = { key: hex16(hi, lo), overtakenBy: null };
    const same = this.byTimer.get(change.key);
    if (same === undefined) this.byTimer.set(change.key, new Set([change]));
    else same.add(change);
    return change;
  }

  /** The change has been given this version. */
  stamped(change: Overtakable, version: Version): void {
    for (const earlier of this.byTimer.get(change.key) ?? []) {
      if (earlier === change) return;
      earlier.overtakenBy = version;
    }
  }

  end(change: Overtakable): void {
    const same = this.byTimer.get(change.key);
    same?.delete(change);
    if (same?.size === 0) this.byTimer.delete(change.key);
  }
}

/** Whether a version above that of the change is of one that came after it. */
export function isOvertaken({ overtakenBy }: Overtakable, by: Version): boolean {
  if (overtakenBy === null || !stampedByOne(by, overtakenBy)) return false;
  return compareVersions(by, overtakenBy) <= 0;
}
