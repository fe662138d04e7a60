/**
 * The care of a member for its disk beside writing to it: knows how far back its memory reaches and how much damage has
 * taken, and reads everything again from time to time.
 *
 * K1  A member that has lost entries does not testify about the time before: its history begins anew.
 * K2  Damaged files go when everything that they held is in memory, and not before: a crash meanwhile finds the damage
 *     again.
 * K3  Damage that is found while the member runs costs nothing: everything is in memory, and is written anew.
 */
import type { Clock, Disk, Log, TimerRecord } from '@carillon/core';
import { type Damage, DiskReport } from './disk-report.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { bornWallMs } from '../../store/journal/files/born.ts';
import type { Journal } from '../../store/journal/journal.ts';
import { Scrub } from '../../store/journal/scrub.ts';

export interface DiskCareParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly identity: string;
  readonly scrubIntervalMs: number;
  readonly tombstoneRetentionMs: number;
  /** How far ahead of the clock marks are made. */
  readonly reserveMs: number;
}

/** The state in which a member starts. */
export interface Awakening {
  /** When it was last there, on the monotonic clock, if its records may be out of date; null: they are not. */
  readonly awaySinceMs: number | null;
  /** Called when everything that damage took was fetched, and nothing is in doubt; null: it has lost nothing. */
  readonly onMended: ((asked: number) => void) | null;
}

/**
 * Timers of which this member had the only copy and that are gone; null: that cannot be told. As noted some seconds
 * before the end, so timers that ended since may be among them.
 */
function lostTimers(
  { lost, singlesBefore }: Pick<Journal, 'lost' | 'singlesBefore'>,
  singles: number,
): number | null {
  if (lost === null) return 0;
  if (singlesBefore === null) return null;
  const missing = Math.max(0, singlesBefore - singles);
  // Each entry is a change of one timer.
  return lost.more ? missing : Math.min(missing, lost.entries);
}

export class DiskCare {
  private readonly parts: DiskCareParts;
  private journal: Journal | null = null;
  private scrub: Scrub | null = null;
  /** Since when lost records are being fetched, by the wall clock; before all time: they are not. */
  private fetchingSinceMs = Number.NEGATIVE_INFINITY;
  readonly report = new DiskReport(() => this.journal?.snapshots.rewriting ?? false);

  constructor(parts: DiskCareParts) {
    this.parts = parts;
    const { metrics } = parts;
    metrics.lostEntries.read(() => this.report.entriesLost);
    metrics.lostTimers.read(() => this.report.timersLost ?? 0);
    metrics.mending.read(() => (this.report.state === 'mending' ? 1 : 0));
  }

  /**
   * The journal is open: tells the member how far back it remembers (on the monotonic clock), and in which state it
   * starts. `singles`: timers that are here and of which it has the only copy.
   */
  async begin(
    disk: Disk,
    journal: Journal,
    singles: number,
  ): Promise<{ historySinceMs: number; awakening: Awakening }> {
    const { clock } = this.parts;
    this.journal = journal;
    const { damaged, lost, torn, marked } = journal;
    if (damaged.length > 0 || lost !== null) {
      const timersLost = lostTimers(journal, singles);
      this.note({ stretches: damaged.length, lost, timersLost });
    }
    const wallMs = clock.wall();
    if (lost !== null) this.fetchingSinceMs = wallMs;
    // Damage in the last seconds before a crash looks like a torn tail: no testimony about the time before either of
    // them.
    const bornMs = await bornWallMs(disk, wallMs, lost !== null || torn);
    this.scrub = this.createScrub(disk, journal);
    this.scrub.start();
    return {
      historySinceMs: bornMs - wallMs + clock.now(),
      awakening: this.awakening(marked, lost !== null),
    };
  }

  /** A record came that was missing here, or a newer one. A timer that is set only now makes up for no lost one. */
  taken({ versionMs }: TimerRecord): void {
    if (versionMs < this.fetchingSinceMs) this.report.addFetched();
  }

  stop(): void {
    this.scrub?.stop();
  }

  /**
   * `marked`: the last mark that could be read. Damage may have taken later ones: then all the more records are kept.
   */
  private awakening(marked: number, isDamaged: boolean): Awakening {
    const { clock, reserveMs, tombstoneRetentionMs } = this.parts;
    const awayMs = Math.max(0, clock.wall() - (marked - reserveMs));
    const sinceMs = marked > 0 ? clock.now() - awayMs : Number.NEGATIVE_INFINITY;
    const isLong = marked > 0 && awayMs > tombstoneRetentionMs / 2;
    return {
      awaySinceMs: isLong || isDamaged ? sinceMs : null,
      onMended: isDamaged ? (asked) => this.mended(asked) : null,
    };
  }

  private note(damage: Damage): void {
    const { clock, metrics } = this.parts;
    metrics.damage.add(damage.stretches);
    this.report.found(damage, clock.wall());
    if (damage.lost === null) this.journal?.snapshots.rewrite();
  }

  /** The lost records that other members had are here again. */
  private mended(asked: number): void {
    const { log } = this.parts;
    this.report.settle(asked);
    this.fetchingSinceMs = Number.NEGATIVE_INFINITY;
    this.journal?.snapshots.rewrite();
    const { entriesLost, recordsFetched, moreLost, timersLost } = this.report.view() ?? {};
    const figures = { entriesLost, andMaybeMore: moreLost, recordsFetched, timersLost };
    if (asked > 0 && timersLost === 0)
      log.info('The records lost to damage have been fetched from the replicas.', {
        event: 'damage-mended',
        ...figures,
      });
    else
      log.error('Timers are lost for good: no other member has a copy of them.', {
        event: 'timers-lost',
        ...figures,
      });
  }

  private createScrub(disk: Disk, journal: Journal): Scrub {
    const { clock, log, metrics, identity, scrubIntervalMs } = this.parts;
    return new Scrub({
      disk,
      clock,
      identity,
      intervalMs: scrubIntervalMs,
      files: () => journal.files,
      onRead: (bytes) => metrics.scrubbedBytes.add(bytes),
      onDamage: (file) => {
        log.error('A file on disk is damaged; its records are in memory and are written again.', {
          event: 'file-rewritten',
          file,
        });
        this.note({ stretches: 1, lost: null, timersLost: 0 });
      },
    });
  }
}
