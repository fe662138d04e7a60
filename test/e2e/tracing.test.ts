/**
 * A trace from a request over the set, the replicas and the callback to the receiver, through real members and a
 * collector.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { DecodedSpan } from '../../packages/server/src/testing/otlp.ts';

interface Printed {
  readonly spans: readonly DecodedSpan[];
  readonly metrics: readonly string[];
  readonly keys: readonly string[];
}

async function order(): Promise<Printed> {
  const program = join(import.meta.dirname, 'support/tracing/traced-order.ts');
  const options = { timeout: 150_000, maxBuffer: 64 * 1024 * 1024 };
  const ran = promisify(execFile)(process.execPath, ['--conditions=source', program], options);
  return JSON.parse((await ran).stdout) as Printed;
}

function named(spans: readonly DecodedSpan[], name: string): DecodedSpan[] {
  return spans.filter((span) => span.name === name);
}

test('one request of an application is one trace up to the receiver, and pops of a recurring timer link to it', async () => {
  const { spans, metrics, keys } = await order();
  const [request] = named(spans, 'POST /orders');
  const traceId = request?.traceId ?? '';
  const inTrace = spans.filter((span) => span.traceId === traceId);
  const above = new Map(spans.map((span) => [span.spanId, span]));
  const pathOf = (span: DecodedSpan | undefined): string =>
    span === undefined ? '' : `${pathOf(above.get(span.parentId ?? ''))}/${span.name}`;
  const [received] = named(inTrace, 'receive');
  expect(pathOf(received)).toBe('/POST /orders/set/pop/callback/receive');
  const sets = named(inTrace, 'set');
  expect(sets).toHaveLength(2);
  for (const set of sets) {
    const copies = named(inTrace, 'replicate').filter(({ parentId }) => parentId === set.spanId);
    // A member that was too busy to answer is sent timers without their trace.
    const members = new Set(copies.map(({ member }) => member));
    expect(members.size, [...members].join()).toBeGreaterThan(1);
  }
  const others = named(spans, 'pop').filter((span) => span.traceId !== traceId);
  const report = sets.find(
    ({ spanId }) => spanId !== above.get(named(inTrace, 'pop')[0]?.parentId ?? '')?.spanId,
  );
  const second = others.find(({ attributes }) => Number(attributes['carillon.timer.sequence']) > 1);
  expect(second?.links).toEqual([`${traceId}-${report?.spanId}`]);
  const handled = named(spans, 'receive').find((span) => span.traceId === second?.traceId);
  expect(pathOf(handled)).toBe('/pop/callback/receive');
  expect(handled?.links).toEqual([`${traceId}-${report?.spanId}`]);
  const numbers = ['carillon_pops_total', 'carillon_pop_lateness_seconds', 'carillon_timers'];
  const wanted = ['a', 'b', 'c'].flatMap((member) => numbers.map((name) => `${member} ${name}`));
  expect(metrics).toEqual(expect.arrayContaining(wanted));
  expect(keys).toEqual(['abc']);
}, 180_000);
