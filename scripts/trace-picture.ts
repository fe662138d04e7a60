/**
 * The picture of docs/tracing.md: runs a shop with Express, OpenTelemetry and three members, and draws two of its
 * traces as collectors show them. `node --conditions=source scripts/trace-picture.ts [SPANS.json]`; with a file, the
 * spans in it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as Plot from '@observablehq/plot';
import type { DecodedSpan } from '../packages/server/src/testing/otlp.ts';
import { colours, drawn, palette, type PicturePlot } from './charts.ts';

const root = join(import.meta.dirname, '..');
const rowHeight = 22;
const headHeight = 40;
/** Of the width that the spans take: waits between them are drawn so wide, however long they are. */
const waitShare = 0.12;

const fills: Readonly<Record<string, string>> = {
  shop: colours.moved,
  a: palette[0],
  b: palette[1],
  c: palette[4],
};

interface Row {
  readonly key: string;
  readonly label: string;
  readonly fill: string;
  readonly from: number;
  readonly to: number;
  readonly took: string;
}

interface Wait {
  readonly at: number;
  readonly text: string;
}

/** From milliseconds to a place in the picture: waits in which no span is open are shortened. */
class Squeezed {
  readonly waits: Wait[] = [];
  private readonly parts: { from: number; to: number; at: number }[] = [];
  readonly width: number;

  constructor(spans: readonly DecodedSpan[]) {
    const open: { from: number; to: number }[] = [];
    for (const { startMs, endMs } of spans.toSorted((a, b) => a.startMs - b.startMs)) {
      const last = open.at(-1);
      if (last !== undefined && startMs <= last.to) last.to = Math.max(last.to, endMs);
      else open.push({ from: startMs, to: endMs });
    }
    const busyMs = open.reduce((sum, { from, to }) => sum + to - from, 0);
    const waitWidth = busyMs * waitShare;
    let at = 0;
    for (const [i, { from, to }] of open.entries()) {
      const before = open[i - 1];
      if (before !== undefined) {
        this.waits.push({ at: at + waitWidth / 2, text: `${seconds(from - before.to)} later` });
        at += waitWidth;
      }
      this.parts.push({ from, to, at });
      at += to - from;
    }
    this.width = at;
  }

  of(ms: number): number {
    const part = this.parts.findLast(({ from }) => from <= ms);
    return part === undefined ? 0 : part.at + Math.min(ms, part.to) - part.from;
  }
}

function seconds(ms: number): string {
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 999.5 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(2)} s`;
}

/** Parents before children, each with its children behind it. */
function inOrder(spans: readonly DecodedSpan[]): { span: DecodedSpan; depth: number }[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent: string | null, depth: number): { span: DecodedSpan; depth: number }[] =>
    spans
      .filter(({ parentId }) => (known.has(parentId ?? '') ? parentId : null) === parent)
      .toSorted((a, b) => a.startMs - b.startMs)
      .flatMap((span) => [{ span, depth }, ...below(span.spanId, depth + 1)]);
  return below(null, 0);
}

function waterfall(spans: readonly DecodedSpan[], head: string): PicturePlot {
  const squeezed = new Squeezed(spans);
  const rows = inOrder(spans).map(({ span, depth }, i): Row => {
    const indent = '\u2003'.repeat(depth);
    return {
      key: String(i),
      label: `${indent}${span.name}`,
      fill: fills[span.member] ?? colours.faint,
      from: squeezed.of(span.startMs),
      to: squeezed.of(span.endMs),
      took: `${span.member === 'shop' ? 'application' : `member ${span.member}`}, ${seconds(span.endMs - span.startMs)}`,
    };
  });
  const fill = ({ fill: one }: Row): string => one;
  return {
    height: headHeight + rows.length * rowHeight + 12,
    marginTop: headHeight,
    marginLeft: 190,
    marginRight: 150,
    marginBottom: 12,
    x: { axis: null, domain: [0, squeezed.width] },
    y: { axis: null, domain: rows.map(({ key }) => key), padding: 0.35 },
    marks: [
      Plot.ruleY(rows, { y: 'key', stroke: colours.grid }),
      Plot.ruleX(squeezed.waits, { x: 'at', stroke: colours.faint, strokeDasharray: '3,3' }),
      Plot.text(squeezed.waits, {
        x: 'at',
        text: 'text',
        frameAnchor: 'top',
        dy: -14,
        fill: colours.faint,
      }),
      Plot.barX(rows, { x1: 'from', x2: 'to', y: 'key', fill }),
      // A span of a few microseconds is seen, too.
      Plot.tickX(rows, { x: 'from', y: 'key', stroke: fill, strokeWidth: 2 }),
      Plot.text(rows, {
        x: 'to',
        y: 'key',
        text: 'took',
        dx: 6,
        textAnchor: 'start',
        fontSize: 10,
        fill: colours.faint,
        stroke: colours.page,
        strokeWidth: 4,
      }),
      Plot.text(rows, {
        y: 'key',
        text: 'label',
        frameAnchor: 'left',
        dx: -174,
        textAnchor: 'start',
      }),
      Plot.text([head], { frameAnchor: 'top-left', dx: -174, dy: -32, fontWeight: 600 }),
    ],
  };
}

function collected(): readonly DecodedSpan[] {
  const program = join(root, 'test/e2e/support/tracing/traced-order.ts');
  const [file] = process.argv.slice(2);
  const text =
    file === undefined
      ? execFileSync(process.execPath, ['--conditions=source', program, '--warm'])
      : readFileSync(file);
  return (JSON.parse(text.toString()) as { spans: DecodedSpan[] }).spans;
}

const spans = collected();
const tookMs = ({ traceId }: DecodedSpan): number =>
  spans
    .filter((span) => span.traceId === traceId)
    .reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
/** The quickest of several: the first ones of a process take long. */
const [request] = spans
  .filter(({ name }) => name === 'POST /orders')
  .toSorted((a, b) => tookMs(a) - tookMs(b));
const trace = spans.filter(({ traceId }) => traceId === request?.traceId);
const second = spans.find(
  ({ name, links, attributes }) =>
    name === 'pop' &&
    Number(attributes['carillon.timer.sequence']) > 1 &&
    links.some((link) => link.startsWith(`${request?.traceId}-`)),
);
const linked = spans.filter(({ traceId }) => traceId === second?.traceId);
if (request === undefined || second === undefined) throw new Error('The traces are not whole.');
const short = (id: string): string => `${id.slice(0, 8)}…`;
const set = second.links[0]?.slice(33) ?? '';
const picture = drawn({
  title: 'One request up to the receiver, and the second pop of a recurring timer',
  plots: [
    waterfall(
      trace,
      `trace ${short(request.traceId)}: an order sets a reminder in 1 s and a report every second`,
    ),
    waterfall(
      linked,
      `trace ${short(second.traceId)}: second report, with a link to span ${short(set)}, the second set above`,
    ),
  ],
  legend: [
    ['application (Express)', fills['shop'] as string],
    ['member a', fills['a'] as string],
    ['member b', fills['b'] as string],
    ['member c', fills['c'] as string],
  ],
  legendColumns: 4,
});
writeFileSync(join(root, 'docs/images/tracing.svg'), picture);
