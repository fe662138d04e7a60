/**
 * OpenTelemetry, where the application has it. `@opentelemetry/api` keeps its providers under a symbol of the global
 * object, one for each major release, so that several copies of it in one process work together. It is found there: no
 * import that a bundler would have to resolve, nothing to configure, and a look at one property where there is none.
 */

interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
  readonly isRemote?: boolean;
}

interface Span {
  spanContext(): SpanContext;
  recordException(error: unknown): void;
  setStatus(status: { readonly code: number; readonly message: string }): void;
  end(): void;
}

interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
}

interface Tracer {
  startSpan(name: string, options: object, context: Context): Span;
}

/** The part of `@opentelemetry/api` that is used here; a provider that is not registered is not there. */
interface Api {
  readonly trace?: { getTracer(name: string): Tracer };
  readonly context?: { active(): Context; with<T>(context: Context, run: () => T): T };
}

const apiKey = Symbol.for('opentelemetry.js.api.1');
const spanKey = Symbol.for('OpenTelemetry Context Key SPAN');
/** Of `SpanKind` and `SpanStatusCode`. */
const consumer = 4;
const failed = 2;

function api(): Api | undefined {
  return (globalThis as { readonly [apiKey]?: Api })[apiKey];
}

/** The `traceparent` of a request made now; undefined: no span is active. */
export function activeTrace(): string | undefined {
  const context = api()?.context?.active();
  return context === undefined ? undefined : traceOf(spanIn(context));
}

/** As headers of a request. */
export function traceHeaders(): { readonly traceparent?: string } {
  const traceparent = activeTrace();
  return traceparent === undefined ? {} : { traceparent };
}

/** A pop as far as its span tells of it. */
export interface TracedPop {
  readonly id: string;
  readonly sequence: number;
  readonly attempt: number;
}

/** The traces of a pop, as `traceparent`; null: none. */
export interface PopTraces {
  /** That of the callback. */
  readonly own: string | null;
  /** That of the set, where it is another one. */
  readonly set: string | null;
}

/**
 * Runs the handler of a pop in a span: below the active one where that belongs to the trace of the callback, as it does
 * with an instrumented HTTP server; else below the span of the member that called.
 */
export function inSpan(
  pop: TracedPop,
  traces: PopTraces,
  run: () => void | Promise<void>,
): void | Promise<void> {
  const { trace, context } = api() ?? {};
  // Not async: without OpenTelemetry a pop costs no promise more.
  if (trace === undefined || context === undefined) return run();
  return recorded({ trace, context }, pop, traces, run);
}

async function recorded(
  { trace, context }: Required<Api>,
  pop: TracedPop,
  { own, set }: PopTraces,
  run: () => void | Promise<void>,
): Promise<void> {
  const active = context.active();
  const remote = contextOf(own);
  const isInTrace = spanIn(active)?.spanContext().traceId === remote?.traceId;
  const parent = remote === null || isInTrace ? active : withRemote(active, remote);
  const linked = contextOf(set);
  const options = {
    kind: consumer,
    attributes: {
      'carillon.timer.id': pop.id,
      'carillon.timer.sequence': pop.sequence,
      'carillon.timer.attempt': pop.attempt,
    },
    links: linked === null ? [] : [{ context: linked }],
  };
  const span = trace.getTracer('@carillon/client').startSpan('receive', options, parent);
  try {
    await context.with(parent.setValue(spanKey, span), run);
  } catch (error) {
    span.recordException(error);
    span.setStatus({ code: failed, message: error instanceof Error ? error.message : '' });
    throw error;
  } finally {
    span.end();
  }
}

function spanIn(context: Context): Span | undefined {
  return context.getValue(spanKey) as Span | undefined;
}

/** Undefined also for the spans without ids that stand for "not recorded here at all". */
function traceOf(span: Span | undefined): string | undefined {
  if (span === undefined) return undefined;
  const { traceId, spanId, traceFlags } = span.spanContext();
  if (/^0*$/.test(traceId)) return undefined;
  return `00-${traceId}-${spanId}-${(traceFlags & 255).toString(16).padStart(2, '0')}`;
}

const form = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(traceparent: string | null): SpanContext | null {
  const parts = traceparent === null ? null : form.exec(traceparent);
  if (parts === null) return null;
  const [, traceId = '', spanId = '', flags = ''] = parts;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** A span that is recorded elsewhere. */
function withRemote(context: Context, remote: SpanContext): Context {
  const nothing = (): void => {};
  const span: Span = {
    spanContext: () => remote,
    recordException: nothing,
    setStatus: nothing,
    end: nothing,
  };
  return context.setValue(spanKey, span);
}
