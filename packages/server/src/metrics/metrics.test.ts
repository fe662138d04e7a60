import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';
import { Family, Histogram, HistogramFamily, Registry } from './prometheus.ts';

const build = { version: '1.2.3', runtime: 'v24' };

/** The samples of a rendered text: `name{labels}` → value. Throws on a line that is not Prometheus text. */
function samples(text: string): Map<string, number> {
  const found = new Map<string, number>();
  const sample =
    /^([a-z_]+(?:\{[a-z]+="(?:[^"\\\n]|\\.)*"(?:,[a-z]+="(?:[^"\\\n]|\\.)*")*\})?) (\S+)$/;
  for (const line of text.split('\n').slice(0, -1)) {
    if (/^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram))$/.test(line)) continue;
    const match = sample.exec(line);
    if (match === null) throw new Error(`not a sample: ${line}`);
    if (found.has(match[1] as string)) throw new Error(`twice: ${line}`);
    found.set(match[1] as string, Number(match[2]?.replace('Inf', 'Infinity')));
  }
  return found;
}

test('a fresh member renders valid text with every result at zero', () => {
  const found = samples(new Metrics(build).render());
  expect(found.get('carillon_build_info{version="1.2.3",runtime="v24"}')).toBe(1);
  expect(found.get('carillon_pops_total{result="skipped_duplicate"}')).toBe(0);
  expect(found.get('carillon_pop_lateness_seconds_count')).toBe(0);
});

test('levels that live elsewhere are read at scrape time', () => {
  const metrics = new Metrics(build);
  let pending = 1;
  metrics.timers.read(() => ({ pending, retrying: 0, dead: 0, tombstone: 0 }));
  metrics.overdue.read(() => pending * 2);
  pending = 5;
  const found = samples(metrics.render());
  expect(found.get('carillon_timers{state="pending"}')).toBe(5);
  expect(found.get('carillon_timers_overdue')).toBe(10);
});

test('counts add up by result', () => {
  const metrics = new Metrics(build);
  metrics.pops.add('delivered');
  metrics.pops.add('delivered', 2);
  metrics.pops.add('dead');
  expect(metrics.pops.count('delivered')).toBe(3);
  expect(metrics.pops.count()).toBe(4);
  expect(samples(metrics.render()).get('carillon_pops_total{result="delivered"}')).toBe(3);
});

test('histogram buckets are cumulative, in seconds, and include their upper bound', () => {
  const histogram = new Histogram({ name: 'h', help: 'h', boundsMs: [1, 10] });
  for (const ms of [0, 1, 1.001, 10, 99]) histogram.observe(ms);
  const out: string[] = [];
  histogram.render(out);
  expect(out.slice(2)).toEqual([
    'h_bucket{le="0.001"} 2',
    'h_bucket{le="0.01"} 4',
    'h_bucket{le="+Inf"} 5',
    'h_sum 0.111001',
    'h_count 5',
  ]);
});

test('percentiles interpolate inside a bucket and can look at counts since a snapshot', () => {
  const histogram = new Histogram({ name: 'h', help: 'h', boundsMs: [10, 20] });
  expect(histogram.percentileMs(0.5)).toBeNull();
  for (let i = 0; i < 10; i++) histogram.observe(5);
  expect(histogram.percentileMs(0.5)).toBe(5);
  const before = histogram.snapshot();
  for (let i = 0; i < 4; i++) histogram.observe(15);
  expect(histogram.percentileMs(0.5, before)).toBe(15);
  histogram.observe(1e9);
  expect(histogram.percentileMs(1)).toBe(20);
});

test('label values are escaped', () => {
  const family = new Family('counter', { name: 'f', help: 'f', labels: ['l'] });
  family.with({ l: 'a"b\\c\nd' }).value++;
  const out: string[] = [];
  family.render(out);
  expect(out.at(-1)).toBe('f{l="a\\"b\\\\c\\nd"} 1');
});

test('label sets are bounded: sets beyond the bound are counted under other', () => {
  const family = new Family('counter', { name: 'f', help: 'f', labels: ['l'] });
  const durations = new HistogramFamily({ name: 'd', help: 'd', label: 'l', boundsMs: [1] });
  for (let i = 0; i < 3000; i++) {
    family.with({ l: `v${i}` }).value++;
    durations.with(`v${i}`).observe(1);
  }
  const out: string[] = [];
  family.render(out);
  expect(out.length).toBeLessThan(1010);
  expect(out.at(-1)).toBe('f{l="other"} 2000');
  expect(family.sum()).toBe(3000);
  durations.render(out);
  expect(out).toContain('d_count{l="other"} 2000');
});

test('two metrics cannot share a name', () => {
  const registry = new Registry();
  registry.add(new Histogram({ name: 'h', help: 'h' }));
  expect(() => registry.add(new Histogram({ name: 'h', help: 'h' }))).toThrow('named h');
});
