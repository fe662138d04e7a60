/**
 * Whether the memory of a process grows without bound. Memory at rest is the floor under the collector's swings: the
 * least of every twelfth of the time. After the warm-up (caches, compiled code, tombstones up to their retention)
 * that floor must be level. It is called growing when it rose by more than the collector's own pace explains *and*
 * the second half has its part in it: a cache that fills up rises ever more slowly, a leak goes on. The slope is the
 * median of the slopes between all pairs of floors, so that one burst does not make it.
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

const floorCount = 12;
const judgedSecondsMin = 60;
/** Tombstones are kept for a minute in a soak, and are dropped some time in the next. */
const warmUpSecondsMin = 60;
const warmUpShare = 0.25;
/**
 * The collector takes up to 100 s for a turn through everything, and lets up to 60 MiB lie until then (both seen at 40
 * sets a second).
 */
const turnSeconds = 100;
const withinTurnBytesMax = 96 * 2 ** 20;
/** Over floors that have such a turn in them each. */
const grownBytesMax = 32 * 2 ** 20;
/** A steady leak has half of its growth in the second half. */
const secondHalfShareMin = 0.25;

/** Readings of one process from its start on. */
export function growthOf(readings: readonly Reading[]): Growth {
  const warm = afterWarmUp(readings);
  const seconds = spanOf(warm);
  if (seconds < judgedSecondsMin) {
    return { verdict: 'too short to tell', bytesPerHour: 0, grownBytes: 0 };
  }
  const floors = floorsOf(warm, seconds / floorCount);
  const perSecond = slopeOf(floors);
  const grownBytes = perSecond * seconds;
  const lateBytes = (slopeOf(floors.slice(floorCount / 2)) * seconds) / 2;
  const bytesMax = seconds / floorCount < turnSeconds ? withinTurnBytesMax : grownBytesMax;
  const isGrowing = grownBytes > bytesMax && lateBytes > grownBytes * secondHalfShareMin;
  return { verdict: isGrowing ? 'growing' : 'level', bytesPerHour: perSecond * 3600, grownBytes };
}

function afterWarmUp(readings: readonly Reading[]): Reading[] {
  const first = readings[0]?.second ?? 0;
  const warmSecond = first + Math.max(warmUpSecondsMin, spanOf(readings) * warmUpShare);
  return readings.filter(({ second }) => second >= warmSecond);
}

function floorsOf(readings: readonly Reading[], bucketSeconds: number): Reading[] {
  const first = readings[0]?.second ?? 0;
  const floors = new Map<number, Reading>();
  for (const reading of readings) {
    const bucket = Math.min(floorCount - 1, Math.floor((reading.second - first) / bucketSeconds));
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
