/**
 * Sends spans and metrics to a collector: full chunks of spans soon, the rest of them and the metrics every
 * `intervalMs`. A request costs a member as much as some hundred spans do, so there is none for a few of them.
 *
 * E1  One request at a time. Between two of them lies `pauseMs`, so that the work of exporting has a bound however many
 *     spans there are; spans that find no room meanwhile are dropped (`span-buffer.ts`).
 * E2  A request that a collector may take later is tried again, `tryCountMax` times in all. Then its spans are lost,
 *     and counted.
 * E3  Nothing of the member waits for it. The log tells when exporting begins to fail, and when it works again.
 */
import type { Cancel, Clock, Log } from '@carillon/core';
import type { MetricReading } from '../metrics/prometheus.ts';
import { metricsBody } from './otlp-metrics.ts';
import { tracesBody } from './otlp-spans.ts';
import type { Exporting } from './otlp-values.ts';
import type { SpanBuffer } from './span-buffer.ts';

export interface OtlpAnswer {
  /** 0: none came. */
  readonly status: number;
  /** For the log where it is no success. */
  readonly reason: string;
}

/** HTTP to a collector. */
export interface Otlp {
  /** Makes the request and calls `done` exactly once. */
  post(path: '/v1/traces' | '/v1/metrics', body: string, done: (answer: OtlpAnswer) => void): void;
  close(): void;
}

export interface ExporterParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly otlp: Otlp;
  readonly buffer: Pick<SpanBuffer, 'count' | 'hasChunk' | 'take'>;
  readonly readMetrics: () => readonly MetricReading[];
  readonly exporting: Exporting;
  readonly intervalMs: number;
  /** Wall-clock milliseconds. */
  readonly wallMs: () => number;
  /** So many spans were taken by the collector, lost on the way, or not recorded for want of room. */
  readonly counted: (result: 'exported' | 'failed' | 'dropped', count: number) => void;
}

export const pauseMs = 100;
const tryCountMax = 5;
/** Statuses after which the same request may succeed; 0: there was no answer. */
const passing = new Set([0, 429, 502, 503, 504]);

interface Request {
  readonly path: '/v1/traces' | '/v1/metrics';
  readonly body: string;
  readonly spanCount: number;
  tries: number;
}

export class Exporter {
  private readonly parts: ExporterParts;
  private readonly startWallMs: number;
  private alarm: Cancel | null = null;
  /** Of the next round of metrics, and of spans that are few. */
  private roundMs = 0;
  /** Spans that fill no chunk are to be sent, too: the metrics of this round are gone. */
  private isRestDue = false;
  private underWay: Request | null = null;
  private isFailing = false;
  private isStopped = false;
  private onIdle: (() => void) | null = null;

  constructor(parts: ExporterParts) {
    this.parts = parts;
    this.startWallMs = parts.wallMs();
  }

  start(): void {
    this.roundMs = this.parts.clock.now() + this.parts.intervalMs;
    this.wakeAt(this.roundMs);
  }

  /** A chunk of spans is full. */
  hurry(): void {
    if (this.underWay === null && !this.isStopped) this.wakeAt(this.parts.clock.now() + pauseMs);
  }

  /** Sends the spans that are left; resolves when they are gone, or after `limitMs`. */
  async stop(limitMs: number): Promise<void> {
    const { clock, buffer, otlp } = this.parts;
    this.alarm?.();
    this.isStopped = true;
    await new Promise<void>((resolve) => {
      const cancel = clock.at(clock.now() + limitMs, resolve);
      this.onIdle = () => {
        if (buffer.count > 0) return this.sendSpans();
        cancel();
        resolve();
      };
      if (this.underWay === null) this.onIdle();
    });
    this.onIdle = null;
    otlp.close();
  }

  private wakeAt(atMs: number): void {
    this.alarm?.();
    this.alarm = this.parts.clock.at(atMs, () => this.wake());
  }

  private wake(): void {
    const { clock, buffer, intervalMs } = this.parts;
    if (this.underWay !== null) return this.send(this.underWay);
    const nowMs = clock.now();
    if (nowMs >= this.roundMs) {
      this.roundMs = nowMs + intervalMs;
      this.isRestDue = buffer.count > 0;
      return this.sendMetrics();
    }
    if (this.isDue()) return this.sendSpans();
    this.wakeAt(this.roundMs);
  }

  private isDue(): boolean {
    return this.isRestDue || this.parts.buffer.hasChunk;
  }

  private sendMetrics(): void {
    const { readMetrics, exporting, wallMs } = this.parts;
    const period = { startWallMs: this.startWallMs, wallMs: wallMs() };
    const body = metricsBody(readMetrics(), exporting, period);
    this.send({ path: '/v1/metrics', body, spanCount: 0, tries: 0 });
  }

  private sendSpans(): void {
    const { buffer } = this.parts;
    const spans = buffer.take();
    // Spans that come from now on wait for a full chunk or the next round.
    if (buffer.count === 0) this.isRestDue = false;
    const body = tracesBody(spans, this.parts.exporting);
    this.send({ path: '/v1/traces', body, spanCount: spans.length, tries: 0 });
  }

  private send(request: Request): void {
    this.underWay = request;
    request.tries++;
    this.parts.otlp.post(request.path, request.body, (answer) => this.answered(request, answer));
  }

  private answered(request: Request, { status, reason }: OtlpAnswer): void {
    const { clock, counted, intervalMs } = this.parts;
    const isTaken = status >= 200 && status < 300;
    this.tell(isTaken, reason);
    if (!isTaken && passing.has(status) && request.tries < tryCountMax && !this.isStopped) {
      // Metrics are read anew in the next round.
      if (request.spanCount > 0) return this.wakeAt(clock.now() + intervalMs);
    }
    this.underWay = null;
    if (request.spanCount > 0) counted(isTaken ? 'exported' : 'failed', request.spanCount);
    if (this.onIdle !== null) return this.onIdle();
    const soonMs = clock.now() + pauseMs;
    this.wakeAt(this.isDue() ? soonMs : Math.max(soonMs, this.roundMs));
  }

  private tell(isTaken: boolean, reason: string): void {
    if (this.isFailing === !isTaken) return;
    this.isFailing = !isTaken;
    const { log } = this.parts;
    if (isTaken) log.info('Spans and metrics are exported again.', { event: 'telemetry-works' });
    else log.warn('Spans and metrics cannot be exported.', { event: 'telemetry-fails', reason });
  }
}
