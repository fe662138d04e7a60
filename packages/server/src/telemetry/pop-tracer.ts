/**
 * Spans of pops: `pop`, from the due time of an attempt to its outcome, and below it `callback`, the request to the receiver.
 * Whether they go on with the trace of the set or have one of their own is decided in `timer/pop-trace.ts`.
 */
import { type Attempted, isSampled } from '@carillon/core';
import { type PopContext, toldOf } from '../callback/request.ts';
import { isContinued, popsOnce, type PopTrace } from '../timer/pop-trace.ts';
import { type Attribute, contextOf, type SpanPlace, spanKind } from './span.ts';
import type { TraceName, Tracer } from './tracer.ts';

/** The spans of an attempt under way. */
export interface PopSpan {
  readonly pop: SpanPlace;
  readonly callback: SpanPlace;
  readonly context: PopContext;
  /** For the callback. */
  readonly trace: PopTrace;
}

/** How an attempt ended. Monotonic milliseconds. */
export interface PopEnd {
  readonly result: Attempted;
  /** The consequence for the timer: delivered, retry, letter … */
  readonly outcome: string;
  readonly answeredMs: number;
  readonly endMs: number;
}

/** Receivers whose address is kept; with more, all are read again. */
const serverCountMax = 256;

export class PopTracer {
  private readonly tracer: Tracer;
  /** Address and port of receivers by origin: reading a URL costs more than the rest of a span. */
  private readonly servers = new Map<string, readonly Attribute[]>();

  constructor(tracer: Tracer) {
    this.tracer = tracer;
  }

  /** The request of an attempt leaves now. null: it is not recorded. */
  begin(context: PopContext, nowMs: number): PopSpan | null {
    const { record, definition } = context;
    const { trace } = definition;
    const continued = trace !== null && isContinued(record, definition, nowMs);
    const pop = continued
      ? this.tracer.begin(trace, record.retryMs)
      : this.tracer.beginNamed(nameOf(context), {
          // One pop of a set that is recorded: the reader of the set looks for it.
          always: trace !== null && isSampled(trace) && popsOnce(definition.timing),
          again: record.attempt > 0,
          link: trace,
          nowMs: record.retryMs,
        });
    if (pop === null) return null;
    const callback = this.tracer.below(pop, nowMs);
    const set = continued ? null : trace;
    return { pop, callback, context, trace: { own: contextOf(callback), set } };
  }

  end({ pop, callback, context }: PopSpan, end: PopEnd): void {
    const told = toldOf(context);
    const common: Attribute[] = [
      ['carillon.timer.id', told.id],
      ['carillon.timer.sequence', told.sequence],
      ['carillon.timer.attempt', told.attempt],
    ];
    const { result, outcome, answeredMs, endMs } = end;
    const error = errorOf(result);
    this.tracer.end(callback, {
      name: 'callback',
      kind: spanKind.client,
      endMs: answeredMs,
      attributes: [...common, ...this.requestAttributes(context), ...answerAttributes(result)],
      error,
    });
    const { record, missed } = context;
    this.tracer.end(pop, {
      name: 'pop',
      kind: spanKind.internal,
      endMs,
      attributes: [
        ...common,
        ['carillon.namespace', record.namespace],
        ['carillon.pop.outcome', outcome],
        ...(missed > 0 ? [['carillon.timer.missed', missed] as const] : []),
      ],
      error,
    });
  }

  private requestAttributes({ definition, split, record }: PopContext): Attribute[] {
    const attributes: Attribute[] = [['http.request.method', definition.method]];
    if (record.attempt > 0) attributes.push(['http.request.resend_count', record.attempt]);
    if (split === null) return attributes;
    // Paths and queries hold secrets of the client, and collectors belong to operators: neither is part of a span.
    attributes.push(['url.full', `${split.origin}/${split.path === '/' ? '' : 'REDACTED'}`]);
    attributes.push(...this.serverOf(split.origin));
    return attributes;
  }

  private serverOf(origin: string): readonly Attribute[] {
    let server = this.servers.get(origin);
    if (server === undefined) {
      if (this.servers.size >= serverCountMax) this.servers.clear();
      server = serverAttributes(origin);
      this.servers.set(origin, server);
    }
    return server;
  }
}

/** Of the id that clients know: the trace goes to the receiver, and the number that members keep must not be found from it. */
function nameOf({ id, record, missed }: PopContext): TraceName {
  const { versionMs, versionTie, sequence } = record;
  return { text: id.slice(0, 16), versionMs, versionTie, sequence: sequence + missed + 1 };
}

function serverAttributes(origin: string): readonly Attribute[] {
  const { hostname, port, protocol } = new URL(origin);
  return [
    ['server.address', hostname],
    ['server.port', port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)],
  ];
}

function answerAttributes(result: Attempted): Attribute[] {
  if (result.kind === 'no-answer') return [['error.type', result.reason]];
  const { status } = result;
  const answered: Attribute = ['http.response.status_code', status];
  return status < 300 ? [answered] : [answered, ['error.type', String(status)]];
}

function errorOf(result: Attempted): string | null {
  if (result.kind === 'no-answer') return result.detail;
  return result.status < 300 ? null : `The receiver answered ${result.status}.`;
}
