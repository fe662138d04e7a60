/**
 * One order at a traced shop, as a program: prints all spans and the names of metrics as JSON.
 * `scripts/trace-picture.ts` draws them, `tracing.test.ts` judges them. A process of its own, because an application's
 * OpenTelemetry is global to its process.
 */
import type { DecodedSpan } from '../../../../packages/server/src/testing/otlp.ts';
import { until } from '../until.ts';
import { openTracedShop } from './traced-shop.ts';

const shop = await openTracedShop();
const { collector } = shop;
try {
  // The first orders of a process take longer than any other.
  const orders = process.argv.includes('--warm') ? 5 : 1;
  for (let i = 0; i < orders; i++) await shop.order();
  await until('traces of all orders, and metrics of three members', 90_000, () => {
    const spans = shop.spans();
    const requests = spans.filter(({ name }) => name === 'POST /orders');
    const members = new Set([...collector.metrics].map((name) => name.split(' ')[0]));
    return members.size === 3 && requests.every(({ traceId }) => isWhole(spans, traceId));
  });
  const { metrics, keys } = collector;
  console.log(JSON.stringify({ spans: shop.spans(), metrics: [...metrics], keys: [...keys] }));
} finally {
  await shop.close();
}

/** The reminder has arrived, and a later report; of each timer there are copies at other members. */
function isWhole(spans: readonly DecodedSpan[], traceId: string): boolean {
  const inTrace = (name: string, trace: string): DecodedSpan[] =>
    spans.filter((span) => span.name === name && span.traceId === trace);
  const later = spans.find(
    ({ name, links, attributes }) =>
      name === 'pop' &&
      Number(attributes['carillon.timer.sequence']) > 1 &&
      links.some((link) => link.startsWith(traceId)),
  );
  const sets = inTrace('set', traceId);
  const copies = inTrace('replicate', traceId);
  return (
    later !== undefined &&
    inTrace('receive', later.traceId).length > 0 &&
    inTrace('receive', traceId).length > 0 &&
    inTrace('pop', traceId).length > 0 &&
    sets.length === 2 &&
    sets.every(({ spanId }) => copies.filter(({ parentId }) => parentId === spanId).length > 1)
  );
}
