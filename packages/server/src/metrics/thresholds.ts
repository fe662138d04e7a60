/** Bounds by which the doctor and the events of a member judge: both tell of the same trouble at the same time. */
import type { DiskRoom } from '@carillon/core';

/** A receiver counts as failing after this many failures in a row, over at least this time. */
export const failureCountMin = 5;
export const failingMs = 30_000;

const diskRatio = 0.1;
const diskBytes = 20 * 1024 ** 3;

/** With less free room than this a disk is nearly full. */
export function nearlyFullBytes({ totalBytes }: DiskRoom): number {
  return Math.min(totalBytes * diskRatio, diskBytes);
}
