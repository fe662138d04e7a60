/**
 * Faults with their place and time, as an observer of machines and cables knows them. Checkers ask whether a fault
 * explains a broken expectation; the members under test never see this log.
 */

/**
 * Long enough for members to notice that a fault is over: a hello, its answer, and the frames that waited behind them.
 */
export const noticeMs = 3000;

interface Span {
  readonly what: string;
  readonly fromMs: number;
  toMs: number;
}

export type Kind =
  /** The program ended, or stood still; also without a processor, for more than a second. */
  | 'down'
  | 'paused'
  /** Down, by an end in the middle of its work; a program that was told to stop is only `down`. */
  | 'killed'
  /** The member had no processor for up to a second. */
  | 'stalled'
  /** Messages to or from it were lost, late, doubled or out of order. */
  | 'network'
  | 'disk'
  /** The disk of the member was damaged silently. */
  | 'rot'
  | 'clock'
  /** The member learnt of a change of the view, or should have. */
  | 'view';

export class FaultLog {
  private readonly spans = new Map<string, Span[]>();

  /** Notes the beginning of a fault at `name`; the returned function notes its end. */
  begin(name: string, kind: Kind, what: string, fromMs: number): (toMs: number) => void {
    const span: Span = { what, fromMs, toMs: Number.POSITIVE_INFINITY };
    this.of(name, kind).push(span);
    return (toMs) => {
      span.toMs = toMs;
    };
  }

  /** Something happened at `name`. */
  note(name: string, kind: Kind, what: string, atMs: number): void {
    const spans = this.of(name, kind);
    const last = spans.at(-1);
    // Lost frames come in crowds: one span for all that follow closely.
    if (last !== undefined && last.what === what && atMs - last.toMs < 100) last.toMs = atMs;
    else spans.push({ what, fromMs: atMs, toMs: atMs });
  }

  /** The fault of one of these kinds that touched `name` between the two moments; null when there was none. */
  find(name: string, kinds: readonly Kind[], fromMs: number, toMs: number): string | null {
    for (const kind of kinds) {
      const spans = this.of(name, kind);
      for (let i = spans.length - 1; i >= 0; i--) {
        const span = spans[i] as Span;
        if (span.fromMs <= toMs && span.toMs >= fromMs) return `${kind}: ${span.what} at ${name}`;
      }
    }
    return null;
  }

  /** Whether something of these kinds began or ended at `name` between the two moments. */
  changed(name: string, kinds: readonly Kind[], fromMs: number, toMs: number): boolean {
    const inside = (atMs: number): boolean => atMs >= fromMs && atMs <= toMs;
    return kinds.some((kind) =>
      this.of(name, kind).some((span) => inside(span.fromMs) || inside(span.toMs)),
    );
  }

  /**
   * Whether the program of `name` ended between the two moments: it had run until then. A start that failed is no such
   * end.
   */
  ended(name: string, fromMs: number, toMs: number): boolean {
    let downUntilMs = Number.NEGATIVE_INFINITY;
    return this.of(name, 'down').some((span) => {
      const ran = span.fromMs > downUntilMs;
      downUntilMs = span.toMs;
      return ran && span.fromMs >= fromMs && span.fromMs <= toMs;
    });
  }

  /**
   * How long `name` had been down, starts that failed included, when it came back between the two moments; 0: it did
   * not.
   */
  downBefore(name: string, fromMs: number, toMs: number): number {
    let sinceMs = 0;
    let untilMs = Number.NEGATIVE_INFINITY;
    let longestMs = 0;
    for (const span of this.of(name, 'down')) {
      if (span.fromMs > untilMs) sinceMs = span.fromMs;
      untilMs = span.toMs;
      if (untilMs >= fromMs && untilMs <= toMs) longestMs = Math.max(longestMs, untilMs - sinceMs);
    }
    return longestMs;
  }

  /** The longest time between the two moments for which none of these members was down. */
  togetherMs(names: readonly string[], fromMs: number, toMs: number): number {
    const spans = names.flatMap((name) => this.of(name, 'down'));
    let upSinceMs = fromMs;
    let longestMs = 0;
    for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
      longestMs = Math.max(longestMs, Math.min(span.fromMs, toMs) - upSinceMs);
      upSinceMs = Math.max(upSinceMs, span.toMs);
    }
    return Math.max(longestMs, toMs - upSinceMs);
  }

  private of(name: string, kind: Kind): Span[] {
    const key = `${kind} ${name}`;
    let spans = this.spans.get(key);
    if (spans === undefined) {
      spans = [];
      this.spans.set(key, spans);
    }
    return spans;
  }
}
