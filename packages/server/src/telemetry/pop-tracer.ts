/**
 * Spans of pops: `pop`, from the due time of an attempt to its outcome, and below it `callback`, the request to the
 * receiver. Whether they go on with the trace of the set or have one of their own is decided in `timer/pop-trace.ts`.
 */
import { type Attempted, isSampled } from '@carillon/core';
import type { PopContext } from '../callback/request.ts';
import { isContinued, popsOnce, type PopTrace } from '../timer/pop-trace.ts';
import {
  attributesText,
  attributeText,
  integerAttribute,
  KnownTexts,
  stringAttribute,
} from './attribute-text.ts';
import { contextOf, type SpanPlace, spanKind } from './span.ts';
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

export class PopTracer {
  private readonly tracer: Tracer;
  private readonly methods = known('http.request.method');
  private readonly urls = known('url.full');
  private readonly namespaces = known('carillon.namespace');
  private readonly outcomes = known('carillon.pop.outcome');
  /** Address and port of receivers by origin. */
  private readonly servers = new KnownTexts(serverText);

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
    const common = timerText(context);
    const { result, outcome, answeredMs, endMs } = end;
    const error = errorOf(result);
    this.tracer.end(callback, {
      name: 'callback',
      kind: spanKind.client,
      endMs: answeredMs,
      attributes: `${common},${this.requestText(context)},${answerText(result)}`,
      error,
    });
    const { record, missed } = context;
    const told = `${common},${this.namespaces.of(record.namespace)},${this.outcomes.of(outcome)}`;
    const missedText = missed > 0 ? `,${attributeText('carillon.timer.missed', missed)}` : '';
    this.tracer.end(pop, {
      name: 'pop',
      kind: spanKind.internal,
      endMs,
      attributes: told + missedText,
      error,
    });
  }

  private requestText({ definition, split, record }: PopContext): string {
    const { attempt } = record;
    const method = this.methods.of(definition.method);
    const again = attempt > 0 ? `,${attributeText('http.request.resend_count', attempt)}` : '';
    if (split === null) return method + again;
    // Paths and queries hold secrets of the client, and collectors belong to operators: neither is part of a span.
    const url = `${split.origin}/${split.path === '/' ? '' : 'REDACTED'}`;
    return `${method}${again},${this.urls.of(url)},${this.servers.of(split.origin)}`;
  }
}

const idText = stringAttribute('carillon.timer.id');
const sequenceText = integerAttribute('carillon.timer.sequence');
const attemptText = integerAttribute('carillon.timer.attempt');
const statusText = integerAttribute('http.response.status_code');

function known(name: string): KnownTexts {
  return new KnownTexts(stringAttribute(name));
}

/** Which attempt it is, as the receiver is told. */
function timerText({ definition: { origin }, record, missed, id }: PopContext): string {
  const sequence = sequenceText(origin?.sequence ?? record.sequence + missed + 1);
  return `${idText(origin?.id ?? id)},${sequence},${attemptText(record.attempt + 1)}`;
}

/**
 * Of the id that clients know: the trace goes to the receiver, and the number that members keep must not be found from
 * it.
 */
function nameOf({ id, record, missed }: PopContext): TraceName {
  const { versionMs, versionTie, sequence } = record;
  return { text: id.slice(0, 16), versionMs, versionTie, sequence: sequence + missed + 1 };
}

function serverText(origin: string): string {
  const { hostname, port, protocol } = new URL(origin);
  return attributesText([
    ['server.address', hostname],
    ['server.port', port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port)],
  ]);
}

function answerText(result: Attempted): string {
  if (result.kind === 'no-answer') return attributeText('error.type', result.reason);
  const { status } = result;
  const answered = statusText(status);
  return status < 300 ? answered : `${answered},${attributeText('error.type', String(status))}`;
}

function errorOf(result: Attempted): string | null {
  if (result.kind === 'no-answer') return result.detail;
  return result.status < 300 ? null : `The receiver answered ${result.status}.`;
}
