/**
 * A shop that sets timers while it answers a request, with OpenTelemetry as an application has it: Express, the SDK,
 * and a span for each request. Three members carry the timers. For the test of tracing and for its picture.
 */
import { createServer, type Server } from 'node:http';
import { Carillon, receiver } from '@carillon/client';
import { toExpress } from '@carillon/client/express';
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import express from 'express';
import type { DecodedSpan } from '../../../../packages/server/src/testing/otlp.ts';
import { type Collector, startCollector } from './collector.ts';
import { listening } from '../listening.ts';
import { RealCluster } from '../real-cluster.ts';

export interface TracedShop {
  readonly collector: Collector;
  /** Of the members and of the shop. */
  spans(): DecodedSpan[];
  /** Asks the shop for an order: it sets a reminder in a second, and a report each second, three times. */
  order(): Promise<void>;
  close(): Promise<void>;
}

export async function openTracedShop(): Promise<TracedShop> {
  const collector = await startCollector();
  const exporting = ['--telemetry-endpoint', collector.url, '--telemetry-interval-ms', '300'];
  // Of the recurring report each pop begins a trace.
  const flags = [...exporting, '--telemetry-sample-ratio', '1'];
  const cluster = await RealCluster.start({
    names: ['a', 'b', 'c'],
    flags: [...flags, '--telemetry-headers', 'x-key=abc', '--default-factor', '3'],
  });
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  trace.setGlobalTracerProvider(provider);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  const carillon = new Carillon({ members: [cluster.member('a').url], refresh: null });
  const server = shopServer(carillon, () => url);
  const url = `http://127.0.0.1:${await listening(server)}`;
  return {
    collector,
    spans: () => [...collector.spans, ...exporter.getFinishedSpans().map(decoded)],
    order: async () => {
      const answer = await fetch(`${url}/orders`, { method: 'POST' });
      if (answer.status !== 202)
        throw new Error(`The shop answered ${answer.status}: ${await answer.text()}`);
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await cluster.end();
      collector.close();
      trace.disable();
      context.disable();
    },
  };
}

/** `url`: of the shop itself, known once it listens. */
function shopServer(carillon: Carillon, url: () => string): Server {
  const app = express();
  app.post('/orders', (_, response, next) => {
    const tracer = trace.getTracer('shop');
    const span = tracer.startSpan('POST /orders', { kind: SpanKind.SERVER }, ROOT_CONTEXT);
    const work = async (): Promise<void> => {
      const uri = `${url()}/timers`;
      await carillon.set({ in: '1s', uri, opaque: 'reminder' });
      await carillon.set({ every: '1s', count: 3, uri, opaque: 'report' });
      span.end();
      response.status(202).end();
    };
    context.with(trace.setSpan(ROOT_CONTEXT, span), work).catch(next);
  });
  app.post('/timers', toExpress(receiver(() => {})));
  return createServer(app);
}

function decoded(span: ReadableSpan): DecodedSpan {
  const { traceId, spanId } = span.spanContext();
  const ms = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;
  return {
    member: 'shop',
    name: span.name,
    kind: span.kind + 1,
    traceId,
    spanId,
    parentId: span.parentSpanContext?.spanId ?? null,
    links: span.links.map((link) => `${link.context.traceId}-${link.context.spanId}`),
    startMs: ms(span.startTime),
    endMs: ms(span.endTime),
    attributes: span.attributes as DecodedSpan['attributes'],
    error: span.status.code === SpanStatusCode.ERROR ? (span.status.message ?? '') : null,
  };
}
