/** Spans and metrics of one member, and their way out. There is none at a member without `telemetry.endpoint`. */
import { isSampled, State, traceOf, type TimerRecord } from '@carillon/core';
import { attributesText } from './attribute-text.ts';
import { Exporter, type ExporterParts } from './exporter.ts';
import { PopTracer } from './pop-tracer.ts';
import { SpanBuffer } from './span-buffer.ts';
import { spanKind } from './span.ts';
import { Tracer, type TracerParts } from './tracer.ts';

/** Spans that wait: about 2 MiB. */
const spanCountMax = 4096;
/** Spans of one request: about 300 KiB, and 2 ms of work. */
const chunkCount = 512;
/** A record that comes later than this after its set comes by repair or resync. */
const freshMsMax = 10_000;

export type TelemetryParts = Omit<ExporterParts, 'buffer'> &
  Omit<TracerParts, 'buffer'> & {
    /** The timer's id as clients know it. */
    readonly idOf: (record: TimerRecord) => string;
  };

export class Telemetry {
  readonly tracer: Tracer;
  readonly pops: PopTracer;
  readonly exporter: Exporter;
  private readonly parts: TelemetryParts;

  constructor(parts: TelemetryParts) {
    this.parts = parts;
    const buffer = new SpanBuffer({
      countMax: spanCountMax,
      chunkCount,
      onChunk: () => this.exporter.hurry(),
      onDropped: () => parts.counted('dropped', 1),
    });
    this.tracer = new Tracer({ ...parts, buffer });
    this.pops = new PopTracer(this.tracer);
    this.exporter = new Exporter({ ...parts, buffer });
  }

  /** `done`, with a span `replicate` of a record that a client has just set; `done` itself where none is recorded. */
  replicating<A extends { readonly type: string }>(
    record: TimerRecord,
    done: (answer: A) => void,
  ): (answer: A) => void {
    const { clock, idOf } = this.parts;
    const trace = traceOf(record.body);
    if (trace === null || !isSampled(trace) || record.state !== State.live) return done;
    const nowMs = clock.now();
    const isFresh = record.sequence === 0 && record.attempt === 0;
    if (!isFresh || nowMs - record.startMs > freshMsMax) return done;
    const place = this.tracer.begin(trace, nowMs);
    if (place === null) return done;
    return (answer) => {
      const isRefused = answer.type === 'refused';
      this.tracer.end(place, {
        name: 'replicate',
        kind: spanKind.server,
        endMs: clock.now(),
        attributes: attributesText([
          ['carillon.timer.id', idOf(record)],
          ['carillon.replica.answer', answer.type],
        ]),
        error: isRefused ? 'The replica did not take the timer.' : null,
      });
      done(answer);
    };
  }
}
