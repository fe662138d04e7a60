/**
 * Room on the disk. While there is plenty, a reserve is set aside. When a write finds the disk full, the reserve is
 * given up, the write is tried once more, and the reserve is tried again every `fullRetryMs`. Until it is set aside
 * again, new timers are refused; pops and cancels go on in the room that was given up.
 *
 * Example with a reserve of 16 MiB and `fullRetryMs` 5,000:
 *
 *   t =  0 s  a write of 40 KiB finds no room: `full`, the reserve goes, the same 40 KiB are written
 *   t =  5 s  setting 16 MiB aside fails: still `full`
 *   t = 10 s  an operator has deleted 1 GiB: 16 MiB are set aside, `full` ends, new timers are taken
 */
import type { Cancel, Clock, Disk, DiskError, Log } from '@carillon/core';
import { asDiskError } from './disk-error.ts';
import { Reserve } from './reserve.ts';

export interface DiskRoomParts {
  readonly disk: Disk;
  readonly clock: Clock;
  readonly log: Log;
  readonly reserveBytes: number;
  /** How often a full disk is tried again. */
  readonly fullRetryMs: number;
  /** Nothing is written any more, so a full disk is not tried again. */
  readonly isStopped: () => boolean;
  /** Writing that gives itself up once the disk is full, and frees its room; null: there is none. */
  readonly spared: () => Promise<unknown> | null;
  /** The reserve is set aside again. */
  readonly onRoom: () => void;
  readonly onFailed: (error: DiskError) => void;
}

export class DiskRoom {
  private readonly parts: DiskRoomParts;
  private readonly reserve: Reserve;
  private isFull = false;
  private cancelRetry: Cancel | null = null;

  constructor(parts: DiskRoomParts) {
    this.parts = parts;
    this.reserve = new Reserve(parts.disk, parts.reserveBytes);
  }

  /** No room: new timers must be refused. Pops and cancels are still written while the reserve lasts. */
  get full(): boolean {
    return this.isFull;
  }

  /** Does the work; where the disk is full, gives up the reserve and does the work once more. */
  async withReserve(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (cause) {
      if (asDiskError(cause).kind !== 'full') throw cause;
      await this.giveUp();
      await work();
    }
  }

  /** Sets the reserve aside. A full disk is tried again later, a failed one is reported. */
  async fill(): Promise<void> {
    const { log, onRoom, onFailed } = this.parts;
    try {
      if (!(await this.reserve.fill())) return;
      if (this.isFull)
        log.info('The disk has room again: new timers are taken.', { event: 'disk-has-room' });
      this.isFull = false;
      onRoom();
    } catch (cause) {
      const error = asDiskError(cause);
      if (error.kind === 'failed') onFailed(error);
      else await this.giveUp();
    }
  }

  /** A full disk is not tried again. */
  stopRetrying(): void {
    this.cancelRetry?.();
  }

  /** Stops setting the reserve aside, and keeps the part that is there. */
  stopFilling(): Promise<void> {
    return this.reserve.stop();
  }

  private async giveUp(): Promise<void> {
    const { clock, log, fullRetryMs, isStopped, spared, onFailed } = this.parts;
    if (!this.isFull)
      log.error('The disk is full: new timers are refused, the reserve is given up.', {
        event: 'disk-full',
      });
    this.isFull = true;
    await spared()?.catch(() => undefined);
    await this.reserve.giveUp();
    this.cancelRetry?.();
    if (isStopped()) return;
    this.cancelRetry = clock.at(clock.now() + fullRetryMs, () => {
      this.fill().catch((cause: unknown) => onFailed(asDiskError(cause)));
    });
  }
}
