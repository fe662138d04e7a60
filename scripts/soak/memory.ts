/**
 * Whether the memory of a process grows without bound. What a process needs at rest is the floor under the collector's swings: the least
 * of every ten seconds or so. After the warm-up (caches, compiled code, tombstones up to their retention) that floor must be level. It is
 * called growing when it rose by more than a member's caches explain *and* the second half has its part in it: what fills up rises
 * ever more slowly, what leaks goes on. The slope is the median of the slopes between all pairs of floors, so that one burst does not make it.
 */
export interface Reading {
  readonly second: number;
  readonly bytes: number;
}

export interface Growth {
  readonly verdict: 'level' | 'growing' | 'too short to tell';
  readonly bytesPerHour: number;
  readonly grownBytes: number;
}

const bucketSecondsMin = 10;
/** A soak of a day has no more of them than one of an hour. */
const bucketCountMax = 360;
/** Tombstones are kept for a minute in a soak, and are dropped some time in the next. */
const warmUpSecondsMin = 60;
const warmUpShare = 0.25;
/** Fewer floors have no slope worth the name. */
const floorCountMin = 6;
/** In tries without any leak the floor moved by up to half of this. */
const grownBytesMax = 32 * 2 ** 20;
/** A steady leak has half of its growth in the second half. */
const secondHalfShareMin = 0.25;

/** Readings of one process from its start on. */
export function growthOf(readings: readonly Reading[]): Growth {
  const floors = floorsOf(readings);
  if (floors.length < floorCountMin) {
    return { verdict: 'too short to tell', bytesPerHour: 0, grownBytes: 0 };
  }
  const perSecond = slopeOf(floors);
  const grownBytes = perSecond * spanOf(floors);
  const half = floors.slice(Math.floor(floors.length / 2));
  const lateBytes = slopeOf(half) * spanOf(half);
  const isGrowing = grownBytes > grownBytesMax && lateBytes > grownBytes * secondHalfShareMin;
  return { verdict: isGrowing ? 'growing' : 'level', bytesPerHour: perSecond * 3600, grownBytes };
}

function floorsOf(readings: readonly Reading[]): Reading[] {
  const first = readings[0]?.second ?? 0;
  const seconds = (readings.at(-1)?.second ?? 0) - first;
  const warmSecond = first + Math.max(warmUpSecondsMin, seconds * warmUpShare);
  const bucketSeconds = Math.max(bucketSecondsMin, seconds / bucketCountMax);
  const floors = new Map<number, Reading>();
  for (const reading of readings) {
    if (reading.second < warmSecond) continue;
    const bucket = Math.floor((reading.second - warmSecond) / bucketSeconds);
    const least = floors.get(bucket);
    if (least === undefined || reading.bytes < least.bytes) floors.set(bucket, reading);
  }
  return [...floors.values()];
}

/** Bytes a second: the median over all pairs. */
export function slopeOf(points: readonly Reading[]): number {
  const slopes = points.flatMap((from, i) =>
    points
      .slice(i + 1)
      .filter(({ second }) => second > from.second)
      .map(({ second, bytes }) => (bytes - from.bytes) / (second - from.second)),
  );
  slopes.sort((a, b) => a - b);
  return slopes[Math.floor(slopes.length / 2)] ?? 0;
}

function spanOf(points: readonly Reading[]): number {
  return (points.at(-1)?.second ?? 0) - (points[0]?.second ?? 0);
}
