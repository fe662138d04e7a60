/** A picture of when which member was at fault: a row each, over the same seconds as the other pictures. */
import * as Plot from '@observablehq/plot';
import { drawn, palette, type PicturePlot } from '../../scripts/charts.ts';
import type { Kind, Window } from './windows.ts';

const looks: Readonly<Record<Kind, { readonly label: string; readonly fill: string }>> = {
  down: { label: 'killed', fill: palette[2] },
  paused: { label: 'paused', fill: palette[3] },
  network: { label: 'cut off', fill: palette[4] },
  starved: { label: 'no processor', fill: palette[5] },
  stopped: { label: 'restarted', fill: palette[6] },
  planned: { label: 'changed', fill: palette[7] },
};

export function drawTimeline(
  windows: readonly Window[],
  members: readonly string[],
  seconds: number,
): string {
  const bars = windows.map(({ member, kind, fromMs, toMs }) => {
    const from = fromMs / 1000;
    // Wide enough to be seen.
    const to = Math.max(Math.min(toMs / 1000, seconds), from + seconds / 600);
    return { member, from, to, fill: looks[kind].fill };
  });
  const plot: PicturePlot = {
    height: members.length * 30 + 50,
    marginLeft: 70,
    marginRight: 40,
    marginTop: 6,
    marginBottom: 44,
    x: {
      domain: [0, Math.max(seconds, 1)],
      nice: true,
      grid: true,
      label: 'seconds',
      labelAnchor: 'center',
      labelArrow: 'none',
    },
    y: { domain: [...members], label: null, tickSize: 0, padding: 0.4 },
    marks: [Plot.barX(bars, { x1: 'from', x2: 'to', y: 'member', fill: 'fill' })],
  };
  const legend = Object.values(looks).map(({ label, fill }) => [label, fill] as const);
  const title = 'Soak · faults and changes';
  return drawn({ title, plots: [plot], legend, legendColumns: legend.length });
}
