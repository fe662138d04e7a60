/**
 * The what-if picture as geometry: members before on the left, after on the right, a ribbon for keys that stay and one
 * for each move.
 */
import type { Movement } from './explorer.ts';

export interface Bar {
  readonly name: string;
  readonly y: number;
  readonly height: number;
  readonly copies: number;
}

export interface Ribbon {
  readonly from: string;
  readonly to: string;
  readonly copies: number;
  readonly moved: boolean;
  /** Top of its ends. */
  readonly left: number;
  readonly right: number;
  readonly height: number;
}

export interface Picture {
  readonly left: readonly Bar[];
  readonly right: readonly Bar[];
  /** Keys that stay come first, so that moves are drawn over them. */
  readonly ribbons: readonly Ribbon[];
}

const gap = 10;

/** Heights add up to about `height`; a side with fewer members has its bars closer to their true sum. */
export function picture(movement: Movement, height: number): Picture {
  const { names, before, after } = movement;
  const total = Math.max(sum(before), sum(after), 1);
  const scale = (height - gap * Math.max(0, names.length - 1)) / total;
  const left = bars(names, before, scale);
  const right = bars(names, after, scale);
  const used = { left: new Map<string, number>(), right: new Map<string, number>() };
  const at = (name: string): number => names.indexOf(name);
  // In the order of the bars, so that ribbons cross no more than they must.
  const moves = movement.flows
    .map(({ from, to, copies }) => ({ from, to, copies, moved: true }))
    .toSorted((a, b) => at(a.from) - at(b.from) || at(a.to) - at(b.to));
  const stays = names.map((name) => {
    const gone = movement.flows.filter(({ from }) => from === name);
    const lost = gone.reduce((n, { copies }) => n + copies, 0);
    const copies = Math.max(0, Math.min((before.get(name) ?? 0) - lost, after.get(name) ?? 0));
    return { from: name, to: name, copies, moved: false };
  });
  const ribbons = [...stays, ...moves]
    .filter(({ copies }) => copies > 0)
    .map((flow) => ({
      ...flow,
      left: take(used.left, left, flow.from, flow.copies * scale),
      right: take(used.right, right, flow.to, flow.copies * scale),
      height: flow.copies * scale,
    }));
  return { left, right, ribbons };
}

function bars(names: readonly string[], loads: ReadonlyMap<string, number>, scale: number): Bar[] {
  let y = 0;
  return names
    .filter((name) => (loads.get(name) ?? 0) > 0)
    .map((name) => {
      const copies = loads.get(name) ?? 0;
      const bar = { name, y, height: copies * scale, copies };
      y += bar.height + gap;
      return bar;
    });
}

/** Where the next ribbon begins at a bar. */
function take(used: Map<string, number>, all: readonly Bar[], name: string, by: number): number {
  const at = used.get(name) ?? 0;
  used.set(name, at + by);
  return (all.find((bar) => bar.name === name)?.y ?? 0) + at;
}

function sum(loads: ReadonlyMap<string, number>): number {
  return [...loads.values()].reduce((total, n) => total + n, 0);
}

/** The outline of a ribbon between two columns. */
export function outline({ left, right, height }: Ribbon, fromX: number, toX: number): string {
  const middle = (fromX + toX) / 2;
  return [
    `M ${fromX} ${left}`,
    `C ${middle} ${left} ${middle} ${right} ${toX} ${right}`,
    `L ${toX} ${right + height}`,
    `C ${middle} ${right + height} ${middle} ${left + height} ${fromX} ${left + height}`,
    'Z',
  ].join(' ');
}
