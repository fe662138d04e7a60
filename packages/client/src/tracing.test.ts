/** The client and the receiver with the real `@opentelemetry/api`, and without. */
import { context, type Context, propagation, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterEach, describe, expect, it } from 'vitest';
import { Carillon } from './carillon.ts';
import { receiver } from './receiver.ts';

const timer = { in: '10s', uri: 'http://receiver.example/' } as const;
const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${spanId}-01`;

function useOpenTelemetry() {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  return { exporter, tracer: provider.getTracer('test') };
}

afterEach(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

interface Sent {
  readonly path: string;
  readonly traceparent: string | null;
  readonly items: readonly { readonly traceparent?: string }[];
}

function clientOf(): { carillon: Carillon; sent: Sent[] } {
  const sent: Sent[] = [];
  const fetched: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const body: unknown = await request.json();
    const items = Array.isArray(body) ? (body as Sent['items']) : [];
    sent.push({
      path: new URL(request.url).pathname,
      traceparent: request.headers.get('traceparent'),
      items,
    });
    if (items.length === 0) return new Response('', { headers: { location: '/timers/a-1' } });
    return Response.json(items.map(() => ({ status: 200, id: 'a-1', copies: '1/1' })));
  };
  const members = ['http://member.example'];
  return { carillon: new Carillon({ members, refresh: null, fetch: fetched }), sent };
}

describe('a client', () => {
  it('names the active span, for each change of a request by itself', async () => {
    const { tracer } = useOpenTelemetry();
    const { carillon, sent } = clientOf();
    const spans = ['first', 'second', 'third'].map((name) => tracer.startSpan(name));
    const within = (at: number): Context => trace.setSpan(ROOT_CONTEXT, spans[at] ?? expect.fail());
    await Promise.all([
      context.with(within(0), () => carillon.set(timer)),
      context.with(within(1), () => carillon.set(timer)),
      context.with(within(2), () => carillon.replace(`${'1'.repeat(16)}-1`, timer)),
      carillon.set(timer),
    ]);
    const named = spans.map(
      (span) => `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`,
    );
    const [first, second] = sent;
    expect([first?.path, first?.traceparent]).toEqual(['/timers', named[0]]);
    expect([second?.path, second?.traceparent]).toEqual(['/timers/batch', null]);
    expect(second?.items.map((item) => item.traceparent)).toEqual([named[1], named[2], undefined]);
    await context.with(within(0), () => carillon.setMany([timer]));
    expect(sent.at(-1)?.traceparent).toBe(named[0]);
  });

  it('names none where no span is active, or there is no OpenTelemetry', async () => {
    const { carillon, sent } = clientOf();
    await carillon.set(timer);
    useOpenTelemetry();
    await carillon.set(timer);
    expect(sent.map((one) => one.traceparent)).toEqual([null, null]);
  });
});

function callback(headers: Record<string, string>, body = 'ding'): Request {
  return new Request('http://receiver.example/', {
    method: 'POST',
    headers: { 'x-timer-id': 'a-1', 'x-sequence-number': '1', ...headers },
    body,
  });
}

describe('a receiver', () => {
  it('handles a pop in a span below the one of the member, with a link to the set', async () => {
    const { exporter } = useOpenTelemetry();
    const other = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
    let active: string | undefined;
    const receive = receiver(async () => {
      await Promise.resolve();
      active = trace.getActiveSpan()?.spanContext().spanId;
    });
    await receive(callback({ traceparent, 'x-timer-trace': other }));
    const [span] = exporter.getFinishedSpans();
    expect(span?.spanContext()).toMatchObject({ traceId, spanId: active });
    expect(span?.parentSpanContext).toMatchObject({ traceId, spanId });
    expect(span?.links.map((link) => link.context.traceId)).toEqual(['1'.repeat(32)]);
    expect(span?.attributes).toMatchObject({ 'carillon.timer.id': 'a-1' });
  });

  it('stays below the span of an HTTP server that has joined the trace already', async () => {
    const { exporter, tracer } = useOpenTelemetry();
    const remote = { traceId, spanId, traceFlags: 1, isRemote: true };
    const joined = trace.setSpanContext(ROOT_CONTEXT, remote);
    const server = tracer.startSpan('POST /', {}, joined);
    await context.with(trace.setSpan(ROOT_CONTEXT, server), () =>
      receiver(() => {})(callback({ traceparent })),
    );
    const [span] = exporter.getFinishedSpans();
    expect(span?.parentSpanContext?.spanId).toBe(server.spanContext().spanId);
  });

  it('gives each pop of a batch the trace of its line', async () => {
    const { exporter } = useOpenTelemetry();
    const line = (sequence: number, more: object) =>
      JSON.stringify({
        id: 'a-1',
        sequence,
        due: '',
        version: '1.0',
        attempt: 1,
        opaque: '',
        ...more,
      });
    const lines = [line(1, { traceparent }), line(2, { trace: traceparent }), line(3, {})];
    await receiver(() => {})(callback({ 'x-timer-count': '3' }, lines.join('\n')));
    const spans = exporter.getFinishedSpans();
    expect(spans.map((span) => span.parentSpanContext?.spanId)).toEqual([
      spanId,
      undefined,
      undefined,
    ]);
    expect(spans.map((span) => span.links.length)).toEqual([0, 1, 0]);
  });

  it('marks the span of a handler that throws, and answers as ever', async () => {
    const { exporter } = useOpenTelemetry();
    const receive = receiver(() => {
      throw new Error('no');
    });
    const answer = await receive(callback({ traceparent }));
    const [span] = exporter.getFinishedSpans();
    expect([answer.status, span?.status.code, span?.events[0]?.name]).toEqual([
      500,
      2,
      'exception',
    ]);
  });

  it('takes pops without OpenTelemetry as before, also with a header that is no trace', async () => {
    const handled: string[] = [];
    const receive = receiver((pop) => void handled.push(pop.headers.get('traceparent') ?? ''));
    expect((await receive(callback({ traceparent }))).status).toBe(200);
    useOpenTelemetry();
    const odd = callback({ traceparent: 'odd', 'x-sequence-number': '2' });
    expect((await receive(odd)).status).toBe(200);
    expect(handled).toEqual([traceparent, 'odd']);
  });
});
