/**
 * One order at a traced shop, as a program: prints all spans and the names of metrics as JSON. `scripts/trace-picture.ts` draws
 * them, `tracing.test.ts` judges them. A process of its own, because an application's OpenTelemetry is global to its process.
 */
import { openTracedShop } from './traced-shop.ts';
import { until } from '../until.ts';

const shop = await openTracedShop();
const { collector } = shop;
try {
  await shop.order();
  await until('four pops handled and exported, and metrics of three members', 60_000, () => {
    const names = shop.spans().map(({ name }) => name);
    const count = (wanted: string): number => names.filter((name) => name === wanted).length;
    const members = new Set([...collector.metrics].map((name) => name.split(' ')[0]));
    return count('receive') === 4 && count('pop') === 4 && members.size === 3;
  });
  const { metrics, keys } = collector;
  console.log(JSON.stringify({ spans: shop.spans(), metrics: [...metrics], keys: [...keys] }));
} finally {
  await shop.close();
}
