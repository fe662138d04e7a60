/** A live chart over time: uPlot on a canvas, a legend of our own that follows the pointer. */
import { useEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';

export interface Line {
  readonly label: string;
  /** A custom property of the style sheet, such as `--accent`. */
  readonly color: string;
  readonly filled?: boolean;
}

export interface ChartProps {
  readonly name: string;
  readonly lines: readonly Line[];
  /** Seconds, then one row of values for each line. */
  readonly data: uPlot.AlignedData;
  readonly format: (value: number) => string;
  /** The top of the scale is at least this. */
  readonly topMin: number;
  /** Said over the chart while there is nothing to draw. */
  readonly nothing: string;
  /** Shown in the legend where a line has no value. */
  readonly absent: string;
}

const height = 190;
const windowSecondsMin = 60;

export function Chart(props: ChartProps) {
  const home = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [hovered, setHovered] = useState<number | null>(null);
  const dark = useDark();
  useEffect(() => {
    const place = home.current;
    if (place === null) return undefined;
    const made = new uPlot(optionsOf(props, place.clientWidth, setHovered), props.data, place);
    plot.current = made;
    const watcher = new ResizeObserver(() => made.setSize({ width: place.clientWidth, height }));
    watcher.observe(place);
    return () => {
      watcher.disconnect();
      made.destroy();
    };
  }, [dark]);
  useEffect(() => plot.current?.setData(props.data), [props.data]);
  const rows = props.data.slice(1);
  const blank = rows.every(empty);
  return (
    <figure class="chart" aria-label={props.name}>
      <figcaption class="legend">
        {props.lines.map((line, i) =>
          empty(rows[i]) && props.lines.length > 2 ? null : (
            <Key key={line.label} line={line} text={valueText(props, i, hovered)} />
          ),
        )}
      </figcaption>
      <div class="plot" ref={home} />
      {blank ? <p class="nothing">{props.nothing}</p> : null}
    </figure>
  );
}

/** A line that is not drawn needs no word in the legend. */
function empty(row: uPlot.AlignedData[number] | undefined): boolean {
  return Array.from(row ?? []).every((value) => value === null || value === undefined);
}

function Key({ line, text }: { readonly line: Line; readonly text: string }) {
  return (
    <span class="key">
      <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
        <rect width="10" height="10" rx="3" class={line.color.slice(2)} />
      </svg>
      {line.label} <strong>{text}</strong>
    </span>
  );
}

/** The value under the pointer, else the newest. */
function valueText(
  { data, format, absent }: ChartProps,
  line: number,
  hovered: number | null,
): string {
  const row = data[line + 1];
  const value = hovered === null ? row?.at(-1) : row?.[hovered];
  return value === null || value === undefined ? absent : format(value);
}

function optionsOf(
  { lines, format, topMin }: ChartProps,
  width: number,
  hover: (index: number | null) => void,
): uPlot.Options {
  const dim = color('--dim');
  const grid = { stroke: color('--line'), width: 1 };
  const font = '11px Inter, system-ui, sans-serif';
  const axis = { stroke: dim, grid, ticks: { show: false }, font };
  return {
    width,
    height,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    hooks: { setCursor: [(plot) => hover(plot.cursor.idx ?? null)] },
    scales: {
      x: { time: true, range: (_, min, max) => [Math.min(min, max - windowSecondsMin), max] },
      y: { range: (_, __, max) => [0, Math.max(topMin, (max ?? 0) * 1.15)] },
    },
    axes: [
      { ...axis, size: 22, space: 70, values: (_, ticks) => ticks.map(clockText(ticks)) },
      { ...axis, size: 62, space: 36, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {},
      ...lines.map((line) => ({
        label: line.label,
        stroke: color(line.color),
        width: 1.75,
        points: { show: false },
        spanGaps: false,
        ...(line.filled === true && { fill: color(`${line.color}-soft`) }),
      })),
    ],
  };
}

/** Seconds are told where ticks are less than a minute apart. */
function clockText(ticks: readonly number[]): (seconds: number) => string {
  const [first = 0, second = first + 60] = ticks;
  const two = (n: number): string => String(n).padStart(2, '0');
  return (seconds) => {
    const date = new Date(seconds * 1000);
    const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
    return second - first < 60 ? `${minutes}:${two(date.getSeconds())}` : minutes;
  };
}

/** The present value of a custom CSS property: a canvas takes only plain colours. */
function color(property: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${property})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}

function useDark(): boolean {
  const [query] = useState(() => matchMedia('(prefers-color-scheme: dark)'));
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const take = (): void => setDark(query.matches);
    query.addEventListener('change', take);
    return () => query.removeEventListener('change', take);
  }, []);
  return dark;
}
