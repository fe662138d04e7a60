/**
 * How far a peer's wall clock is off, from hellos and their answers. The answer's time is right to half the time the
 * exchange took, so the quickest of the last exchanges is believed; an offset that could as well be the
 * network's doing counts as none.
 */

const sampleCountMax = 16;

interface Sample {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

export class ClockOffset {
  private readonly samples: Sample[] = [];
  private offsetMs = 0;

  /** A hello sent and answered between `sentWallMs` and `heardWallMs` on our clock, `peerWallMs` on the peer's. */
  add(exchange: { sentWallMs: number; roundTripMs: number; peerWallMs: number }): void {
    const { sentWallMs, roundTripMs, peerWallMs } = exchange;
    if (this.samples.length === sampleCountMax) this.samples.shift();
    this.samples.push({ offsetMs: peerWallMs - (sentWallMs + roundTripMs / 2), roundTripMs });
    this.offsetMs = believed(this.samples);
  }

  /** Its clock minus ours; 0 while nothing says otherwise. */
  get ms(): number {
    return this.offsetMs;
  }
}

function believed(samples: readonly Sample[]): number {
  let best: Sample | null = null;
  for (const sample of samples) {
    if (best === null || sample.roundTripMs < best.roundTripMs) best = sample;
  }
  if (best === null || Math.abs(best.offsetMs) <= best.roundTripMs / 2 + 1) return 0;
  return best.offsetMs;
}
