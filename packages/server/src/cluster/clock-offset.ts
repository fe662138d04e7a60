/**
 * How far a peer's wall clock is off, from hellos and their answers. The answer's time is right to half the time the
 * exchange took, so the quickest of the last exchanges is believed; an offset that could as well be the
 * network's doing counts as none. Two exchanges that cannot both be right mean that one of the two clocks was set in
 * between, and the earlier one is forgotten:
 *
 *   offset −4000 ms after 3 ms, offset 0 ms after 2 ms a second before   at least 3997 ms apart, where 2.5 explain
 *                                                                        themselves: −4000 ms counts from now on
 */

const sampleCountMax = 16;
/** Two clocks drift apart by less than this while the samples are kept. */
const driftMsMax = 10;

interface Sample {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

export class ClockOffset {
  private samples: Sample[] = [];
  private offsetMs = 0;

  /** A hello sent and answered between `sentWallMs` and `heardWallMs` on our clock, `peerWallMs` on the peer's. */
  add(exchange: { sentWallMs: number; roundTripMs: number; peerWallMs: number }): void {
    const { sentWallMs, roundTripMs, peerWallMs } = exchange;
    const newest = { offsetMs: peerWallMs - (sentWallMs + roundTripMs / 2), roundTripMs };
    this.samples = this.samples.filter((sample) => agree(sample, newest)).slice(1 - sampleCountMax);
    this.samples.push(newest);
    this.offsetMs = believed(this.samples);
  }

  /** Its clock minus ours; 0 while nothing says otherwise. */
  get ms(): number {
    return this.offsetMs;
  }
}

/** Whether both can be right about one offset, each by half the time that it took. */
function agree(a: Sample, b: Sample): boolean {
  const apartMs = Math.abs(a.offsetMs - b.offsetMs);
  return apartMs <= (a.roundTripMs + b.roundTripMs) / 2 + driftMsMax;
}

function believed(samples: readonly Sample[]): number {
  let best: Sample | null = null;
  for (const sample of samples) {
    if (best === null || sample.roundTripMs < best.roundTripMs) best = sample;
  }
  if (best === null || Math.abs(best.offsetMs) <= best.roundTripMs / 2 + 1) return 0;
  return best.offsetMs;
}
