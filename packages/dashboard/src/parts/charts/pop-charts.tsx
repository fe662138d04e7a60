/** Pops and lateness of all members over time, for five minutes, an hour or a day. */
import { useMemo } from 'preact/hooks';
import { getSamples } from '../../api.ts';
import { milliseconds, rate } from '../../format.ts';
import { samples } from '../../live.ts';
import { useLoaded } from '../../loaded.ts';
import { route } from '../../route.ts';
import { Chart, type Line } from './chart.tsx';
import { Panel, Wrong } from '../parts.tsx';
import { everyMs, type Range, rangeOf, ranges } from './range.ts';
import type { Sample, Snapshot } from '../shapes.ts';

export function PopCharts({ now }: { readonly now: Snapshot }) {
  const range = rangeOf(route.value.query);
  return (
    <>
      <nav class="choice ranges" aria-label="Range of the charts">
        {ranges.map(([value, title]) => (
          <a
            key={value}
            href={value === '5m' ? '#/overview' : `#/overview?range=${value}`}
            aria-current={value === range ? 'true' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {range === '5m' ? (
        <Charts now={now} range={range} all={samples.value} />
      ) : (
        <Longer key={range} now={now} range={range} />
      )}
    </>
  );
}

function Longer({ now, range }: { readonly now: Snapshot; readonly range: Exclude<Range, '5m'> }) {
  const { data, error } = useLoaded(range, () => getSamples(range), everyMs[range]);
  return (
    <>
      <Wrong says={error} />
      <Charts now={now} range={range} all={data ?? none} />
    </>
  );
}

const none: readonly Sample[] = [];

interface ChartsProps {
  readonly now: Snapshot;
  readonly range: Range;
  readonly all: readonly Sample[];
}

function Charts(props: ChartsProps) {
  return (
    <div class="columns">
      <PopsChart {...props} />
      <LatenessChart {...props} />
    </div>
  );
}

const popLines: readonly Line[] = [
  { label: 'delivered', color: '--accent', filled: true },
  { label: 'retried', color: '--warn' },
  { label: 'given up', color: '--bad' },
];
const latenessLines: readonly Line[] = [
  { label: 'p50', color: '--accent' },
  { label: 'p99', color: '--second' },
];

type Row = (number | null)[];

function secondsOf(all: readonly Sample[]): number[] {
  return all.map(({ at }) => at / 1000);
}

/** A line that never leaves zero is not worth drawing. */
function unlessQuiet(row: number[]): Row {
  return row.some((value) => value > 0) ? row : row.map(() => null);
}

function PopsChart({ now, range, all }: ChartsProps) {
  const data = useMemo(
    (): [number[], ...Row[]] => [
      secondsOf(all),
      all.map((sample) => sample.all.pops),
      unlessQuiet(all.map((sample) => sample.all.retried)),
      unlessQuiet(all.map((sample) => sample.all.dead)),
    ],
    [all],
  );
  return (
    <Panel title="Pops per second" note={notes[range](now)}>
      <Chart
        name="Pops per second over time"
        lines={popLines}
        data={data}
        format={rate}
        topMin={4}
        nothing="No numbers yet."
        absent="0"
      />
    </Panel>
  );
}

/** The span of each point. */
const notes: Readonly<Record<Range, (now: Snapshot) => string>> = {
  '5m': (now) => `${ofAll(now)}means of 10 s`,
  '1h': (now) => `${ofAll(now)}means of 10 s, since ${now.self} started`,
  '1d': (now) => `${ofAll(now)}means of a minute, since ${now.self} started`,
};

function ofAll({ cluster }: Snapshot): string {
  return cluster.members.length === 1 ? '' : 'all members, ';
}

function LatenessChart({ now, all }: ChartsProps) {
  const data = useMemo(
    (): [number[], ...Row[]] => [
      secondsOf(all),
      all.map((sample) => sample.all.p50),
      all.map((sample) => sample.all.p99),
    ],
    [all],
  );
  const alone = now.cluster.members.length === 1;
  return (
    <Panel
      title="Lateness"
      note={`${alone ? 'from due to callback' : 'at the latest member'}, without waits for receivers`}
    >
      <Chart
        name="Lateness of pops over time"
        lines={latenessLines}
        data={data}
        format={milliseconds}
        topMin={2}
        nothing="No pop in this time."
        absent="–"
      />
    </Panel>
  );
}
