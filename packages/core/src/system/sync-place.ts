/**
 * Where a small sync is made: at once, on the thread of the event loop, or on another thread. A hand-over to a thread
 * and back costs about as much as a sync of a disk with a memory of its own for writes (0.1 ms); a slow disk must not
 * hold up the event loop.
 *
 *   quick, quick, quick …                at once, for as long as the smoothed time of a sync is below 0.25 ms
 *   quick, 5 ms                          the next 256 go to a thread, then one is tried at once
 *   5 ms again                           the next 512 go to a thread, and so on, up to 65,536
 *   256 quick ones in a row              the next slow one sends 256 to a thread again
 */

/** Smoothed time of a sync up to which syncs are made at once. */
const quickMs = 0.25;

/** Share of the newest sync in the smoothed time. */
const newestShare = 1 / 16;

const elsewhereCountMin = 256;
const elsewhereCountMax = 65_536;

export class SyncPlace {
  private smoothedMs = 0;
  /** So many go to a thread before one is tried at once. */
  private elsewhere = 0;
  private nextElsewhere = elsewhereCountMin;
  private quickInARow = 0;

  /** Asked once for each small sync. */
  isHere(): boolean {
    if (this.elsewhere === 0) return true;
    this.elsewhere -= 1;
    return false;
  }

  /** A sync that was made at once took so long. */
  took(ms: number): void {
    this.smoothedMs += (ms - this.smoothedMs) * newestShare;
    if (this.smoothedMs > quickMs) this.goElsewhere();
    else if (++this.quickInARow >= elsewhereCountMin) this.nextElsewhere = elsewhereCountMin;
  }

  private goElsewhere(): void {
    this.elsewhere = this.nextElsewhere;
    this.nextElsewhere = Math.min(2 * this.nextElsewhere, elsewhereCountMax);
    this.quickInARow = 0;
    // The next try decides: the smoothed time of a disk that was slow then says nothing about now.
    this.smoothedMs = quickMs / 2;
  }
}
