/** A picture of when which member was at fault: a row each, over the same seconds as the other pictures. */
import { tickStep } from '../../bench/page/lines.ts';
import { colours, line, palette, picture, round, text } from '../../bench/page/svg.ts';
import type { Kind, Window } from './windows.ts';

const width = 720;
const left = 70;
const right = width - 40;
const top = 46;
const rowHeight = 30;
const barHeight = 18;

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
  const title = 'Soak · faults and changes';
  const step = tickStep(seconds);
  const end = Math.max(step, Math.ceil(seconds / step) * step);
  const bottom = top + members.length * rowHeight;
  const at = (second: number): number => left + (Math.min(second, end) / end) * (right - left);
  const ticks = Array.from({ length: Math.round(end / step) + 1 }, (_, i) => i * step);
  const bars = windows.map(({ member, kind, fromMs, toMs }) => {
    const row = members.indexOf(member);
    if (row < 0) return '';
    const [from, to] = [at(fromMs / 1000), at(toMs / 1000)];
    const y = top + row * rowHeight + (rowHeight - barHeight) / 2;
    return `<rect x="${round(from)}" y="${y}" width="${round(Math.max(1, to - from))}" height="${barHeight}" fill="${looks[kind].fill}"/>`;
  });
  return picture(width, bottom + 80, title, [
    text(16, 24, title, { size: 15, isBold: true }),
    ...ticks.flatMap((tick) => [
      line([at(tick), top], [at(tick), bottom], colours.grid),
      text(at(tick), bottom + 16, String(tick), { anchor: 'middle', size: 11 }),
    ]),
    ...members.map((name, i) =>
      text(left - 8, top + i * rowHeight + rowHeight / 2 + 4, name, { anchor: 'end', size: 11 }),
    ),
    ...bars,
    text((left + right) / 2, bottom + 34, 'seconds', { anchor: 'middle', fill: colours.faint }),
    ...legend(bottom + 60),
  ]);
}

function legend(y: number): string[] {
  const step = (right - left) / Object.keys(looks).length;
  return Object.values(looks).flatMap(({ label, fill }, i) => [
    `<rect x="${round(left + i * step)}" y="${y - 9}" width="14" height="10" fill="${fill}"/>`,
    text(left + i * step + 20, y, label, { size: 11 }),
  ]);
}
