/**
 * A small registry of counters, gauges and histograms that renders itself as Prometheus text (format 0.0.4).
 *
 * Label sets are bounded: a family takes at most `childCountMax` different combinations, everything beyond is counted
 * under `other`. Code that counts often keeps the child that `with` returned instead of asking again.
 */

export interface Metric {
  readonly name: string;
  render(out: string[]): void;
  /** The present numbers, for other forms than the text. */
  reading(): MetricReading;
}

export interface Reading {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface HistogramReading {
  readonly labels: Readonly<Record<string, string>>;
  readonly boundsMs: Float64Array;
  /** One more than there are bounds: the last counts values above them all. */
  readonly counts: Float64Array;
  readonly sumMs: number;
}

export type MetricReading = { readonly name: string; readonly help: string } & (
  | { readonly type: 'counter' | 'gauge'; readonly values: readonly Reading[] }
  | { readonly type: 'histogram'; readonly histograms: readonly HistogramReading[] }
);

const noLabels: Readonly<Record<string, string>> = {};

const childCountMax = 1000;

function heading(out: string[], metric: { name: string; help: string }, type: string): void {
  out.push(`# HELP ${metric.name} ${metric.help}`, `# TYPE ${metric.name} ${type}`);
}

/** Observations in a bucket since a snapshot. */
function freshCount(counts: Float64Array, since: Float64Array | undefined, i: number): number {
  return (counts[i] as number) - (since?.[i] ?? 0);
}

function number(value: number): string {
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  return String(value);
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

/** `{a="x",b="y"}`, or nothing without labels. */
function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(
    ([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (c) => escapes[c] ?? c)}"`,
  );
  return parts.length === 0 ? '' : `{${parts.join(',')}}`;
}

/** A number that a part of the member keeps up to date: counts, or a level. */
export class Cell {
  value = 0;

  set(value: number): void {
    this.value = value;
  }
}

/** One number: kept by its owner, or read from it at scrape time. */
abstract class Single implements Metric {
  readonly name: string;
  readonly help: string;
  protected abstract readonly type: 'counter' | 'gauge';
  protected kept = 0;
  private reader: (() => number) | null = null;

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  get value(): number {
    return this.reader === null ? this.kept : this.reader();
  }

  add(by = 1): void {
    this.kept += by;
  }

  /** From now on `reader` gives the value, each time that metrics are read. */
  read(reader: () => number): void {
    this.reader = reader;
  }

  render(out: string[]): void {
    heading(out, this, this.type);
    out.push(`${this.name} ${number(this.value)}`);
  }

  reading(): MetricReading {
    const { name, help, type, value } = this;
    return { name, help, type, values: [{ labels: noLabels, value }] };
  }
}

/** Counts how often something happened; only grows. */
export class Counter extends Single {
  protected override readonly type = 'counter';
}

/** A level: goes up and down. */
export class Gauge extends Single {
  protected override readonly type = 'gauge';

  set(value: number): void {
    this.kept = value;
  }
}

/** Counters told apart by one label whose values are known beforehand: `pops.add('delivered')`. */
export class Tally<V extends string> implements Metric {
  readonly name: string;
  readonly help: string;
  private readonly label: string;
  private readonly counts: Record<V, number>;

  constructor(options: { name: string; help: string; label: string; values: readonly V[] }) {
    this.name = options.name;
    this.help = options.help;
    this.label = options.label;
    this.counts = Object.fromEntries(options.values.map((value) => [value, 0])) as Record<
      V,
      number
    >;
  }

  add(value: V, by = 1): void {
    this.counts[value] += by;
  }

  /** How often each value was counted so far. */
  counted(): Readonly<Record<V, number>> {
    return { ...this.counts };
  }

  /** How often one value was counted, or all of them. */
  count(value?: V): number {
    if (value !== undefined) return this.counts[value];
    return Object.values<number>(this.counts).reduce((sum, count) => sum + count, 0);
  }

  render(out: string[]): void {
    heading(out, this, 'counter');
    for (const [value, count] of Object.entries<number>(this.counts)) {
      out.push(`${this.name}${labelText({ [this.label]: value })} ${number(count)}`);
    }
  }

  reading(): MetricReading {
    const { name, help, label } = this;
    const counts = Object.entries<number>(this.counts);
    const values = counts.map(([value, count]) => ({ labels: { [label]: value }, value: count }));
    return { name, help, type: 'counter', values };
  }
}

/** Counters or levels told apart by labels. */
export class Family<L extends string> implements Metric {
  readonly name: string;
  readonly help: string;
  private readonly type: 'counter' | 'gauge';
  private readonly labels: readonly L[];
  private readonly children = new Map<
    string,
    { text: string; values: Readonly<Record<string, string>>; cell: Cell }
  >();

  constructor(
    type: 'counter' | 'gauge',
    options: { name: string; help: string; labels: readonly L[] },
  ) {
    this.type = type;
    this.name = options.name;
    this.help = options.help;
    this.labels = options.labels;
  }

  /** The cell for these label values; made when first asked for. */
  with(values: Readonly<Record<L, string>>): Cell {
    const key = this.labels.map((label) => values[label]).join('\0');
    const known = this.children.get(key);
    if (known !== undefined) return known.cell;
    if (this.children.size >= childCountMax) return this.other();
    return this.child(key, values);
  }

  /** The sum over all label values. */
  sum(): number {
    let total = 0;
    for (const { cell } of this.children.values()) total += cell.value;
    return total;
  }

  render(out: string[]): void {
    heading(out, this, this.type);
    for (const { text, cell } of this.children.values()) {
      out.push(`${this.name}${text} ${number(cell.value)}`);
    }
  }

  reading(): MetricReading {
    const { name, help, type } = this;
    const children = [...this.children.values()];
    const values = children.map(({ values: labels, cell }) => ({ labels, value: cell.value }));
    return { name, help, type, values };
  }

  private other(): Cell {
    const key = this.labels.map(() => 'other').join('\0');
    const values = Object.fromEntries(this.labels.map((label) => [label, 'other']));
    return this.children.get(key)?.cell ?? this.child(key, values);
  }

  private child(key: string, values: Readonly<Record<string, string>>): Cell {
    const ordered = Object.fromEntries(this.labels.map((label) => [label, values[label] ?? '']));
    const child = { text: labelText(ordered), values: ordered, cell: new Cell() };
    this.children.set(key, child);
    return child.cell;
  }
}

/** Levels by one label, asked for at scrape time. */
export class ReadFamily<V extends string> implements Metric {
  readonly name: string;
  readonly help: string;
  private readonly label: string;
  private readonly type: 'gauge' | 'counter';
  private reader: () => Readonly<Record<V, number>> | null = () => null;

  constructor(options: { name: string; help: string; label: string; type?: 'gauge' | 'counter' }) {
    this.name = options.name;
    this.help = options.help;
    this.label = options.label;
    this.type = options.type ?? 'gauge';
  }

  read(reader: () => Readonly<Record<V, number>>): void {
    this.reader = reader;
  }

  /** The present levels; null while no reader is registered. */
  values(): Readonly<Record<V, number>> | null {
    return this.reader();
  }

  render(out: string[]): void {
    heading(out, this, this.type);
    for (const [value, level] of Object.entries<number>(this.reader() ?? {})) {
      out.push(`${this.name}${labelText({ [this.label]: value })} ${number(level)}`);
    }
  }

  reading(): MetricReading {
    const { name, help, type, label } = this;
    const levels = Object.entries<number>(this.reader() ?? {});
    const values = levels.map(([value, level]) => ({ labels: { [label]: value }, value: level }));
    return { name, help, type, values };
  }
}

/** Bucket bounds for durations: fine where a healthy member lives, coarse up to a minute. */
const durationBucketsMs = [
  0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 7.5, 10, 15, 20, 30, 50, 75, 100, 200, 350, 500, 1_000,
  2_000, 5_000, 10_000, 30_000, 60_000,
] as const;

/** Durations: observed in milliseconds, rendered in seconds as Prometheus expects. */
export class Histogram implements Metric {
  readonly name: string;
  readonly help: string;
  private readonly labels: Readonly<Record<string, string>>;
  private readonly boundsMs: Float64Array;
  /** One more than there are bounds: the last counts values above them all. */
  private readonly counts: Float64Array;
  private sumMs = 0;

  constructor(options: {
    name: string;
    help: string;
    boundsMs?: readonly number[];
    labels?: Readonly<Record<string, string>>;
  }) {
    this.name = options.name;
    this.help = options.help;
    this.labels = options.labels ?? {};
    this.boundsMs = Float64Array.from(options.boundsMs ?? durationBucketsMs);
    this.counts = new Float64Array(this.boundsMs.length + 1);
  }

  observe(ms: number): void {
    const { boundsMs } = this;
    let low = 0;
    let high = boundsMs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (ms <= (boundsMs[middle] as number)) high = middle;
      else low = middle + 1;
    }
    this.counts[low] = (this.counts[low] as number) + 1;
    this.sumMs += ms;
  }

  /** The counts per bucket so far, to subtract from a later snapshot; written over `old`, if that is given. */
  snapshot(old?: Float64Array): Float64Array {
    if (old === undefined) return this.counts.slice();
    old.set(this.counts);
    return old;
  }

  /**
   * The value below which `ratio` of the observations since `since` lie, interpolated inside its bucket;
   * null without observations.
   */
  percentileMs(ratio: number, since?: Float64Array): number | null {
    const { counts } = this;
    let all = 0;
    for (let i = 0; i < counts.length; i++) all += freshCount(counts, since, i);
    if (all === 0) return null;
    let left = ratio * all;
    for (let i = 0; i < this.boundsMs.length; i++) {
      const count = freshCount(counts, since, i);
      const floor = i === 0 ? 0 : (this.boundsMs[i - 1] as number);
      const ceiling = this.boundsMs[i] as number;
      if (count > 0 && left <= count) return floor + ((ceiling - floor) * left) / count;
      left -= count;
    }
    return this.boundsMs.at(-1) as number;
  }

  render(out: string[]): void {
    heading(out, this, 'histogram');
    this.renderSeries(out);
  }

  reading(): MetricReading {
    const { name, help } = this;
    return { name, help, type: 'histogram', histograms: [this.observed()] };
  }

  observed(): HistogramReading {
    const { labels, boundsMs, counts, sumMs } = this;
    return { labels, boundsMs, counts, sumMs };
  }

  /** The lines without the heading, for histograms that share a name. */
  renderSeries(out: string[]): void {
    let seen = 0;
    for (let i = 0; i <= this.boundsMs.length; i++) {
      seen += this.counts[i] as number;
      const bound = this.boundsMs[i];
      const le = bound === undefined ? '+Inf' : number(bound / 1000);
      out.push(`${this.name}_bucket${labelText({ ...this.labels, le })} ${seen}`);
    }
    const labels = labelText(this.labels);
    out.push(`${this.name}_sum${labels} ${number(this.sumMs / 1000)}`);
    out.push(`${this.name}_count${labels} ${seen}`);
  }
}

/** Histograms of one name told apart by one label. */
export class HistogramFamily implements Metric {
  readonly name: string;
  readonly help: string;
  private readonly label: string;
  private readonly boundsMs: readonly number[];
  private readonly children = new Map<string, Histogram>();

  constructor(options: {
    name: string;
    help: string;
    label: string;
    boundsMs?: readonly number[];
  }) {
    this.name = options.name;
    this.help = options.help;
    this.label = options.label;
    this.boundsMs = options.boundsMs ?? durationBucketsMs;
  }

  with(value: string): Histogram {
    const key = this.children.has(value) || this.children.size < childCountMax ? value : 'other';
    const known = this.children.get(key);
    if (known !== undefined) return known;
    const { name, help, boundsMs } = this;
    const child = new Histogram({ name, help, boundsMs, labels: { [this.label]: key } });
    this.children.set(key, child);
    return child;
  }

  render(out: string[]): void {
    heading(out, this, 'histogram');
    for (const child of this.children.values()) child.renderSeries(out);
  }

  reading(): MetricReading {
    const { name, help } = this;
    const histograms = [...this.children.values()].map((child) => child.observed());
    return { name, help, type: 'histogram', histograms };
  }
}

/** Metrics in the order they were made. */
export class Registry {
  private readonly metrics = new Map<string, Metric>();

  add<M extends Metric>(metric: M): M {
    if (this.metrics.has(metric.name)) throw new Error(`Two metrics are named ${metric.name}.`);
    this.metrics.set(metric.name, metric);
    return metric;
  }

  render(): string {
    const out: string[] = [];
    for (const metric of this.metrics.values()) metric.render(out);
    return `${out.join('\n')}\n`;
  }

  readings(): readonly MetricReading[] {
    return [...this.metrics.values()].map((metric) => metric.reading());
  }
}
