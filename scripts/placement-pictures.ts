/**
 * Draws the pictures of docs/placement.md from real runs of the package.
 *
 *   node --conditions=source scripts/placement-pictures.ts
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  buildTopology,
  type Candidate,
  changeVertices,
  compileTargets,
  compileTopology,
  diff,
  explain,
  hashText,
  health,
  type Placer,
  type Topology,
} from '@carillon/placement';

const folder = join(import.meta.dirname, '..', 'docs', 'images');
const keyCount = 200_000;
const colours = {
  paper: '#ffffff',
  ink: '#1f2933',
  faint: '#8795a1',
  line: '#d5dbe1',
  main: '#2f6f9f',
  moved: '#e08a1e',
  rival: '#b0bac5',
  dead: '#3b4550',
  hollow: '#c0392b',
};

class Drawing {
  readonly #parts: string[] = [];
  readonly #width: number;
  readonly #height: number;

  constructor(width: number, height: number, title: string) {
    this.#width = width;
    this.#height = height;
    this.box({ x: 0, y: 0, width, height, fill: colours.paper });
    this.text(20, 28, title, { size: 16, bold: true });
  }

  box(at: {
    x: number;
    y: number;
    width: number;
    height: number;
    fill: string;
    stroke?: string;
  }): void {
    const stroke = at.stroke === undefined ? '' : ` stroke="${at.stroke}" stroke-width="2"`;
    this.#parts.push(
      `<rect x="${round(at.x)}" y="${round(at.y)}" width="${round(at.width)}" height="${round(at.height)}" fill="${at.fill}"${stroke}/>`,
    );
  }

  line(
    from: readonly [number, number],
    to: readonly [number, number],
    stroke: string,
    width = 1,
  ): void {
    this.#parts.push(
      `<line x1="${round(from[0])}" y1="${round(from[1])}" x2="${round(to[0])}" y2="${round(to[1])}" stroke="${stroke}" stroke-width="${width}"/>`,
    );
  }

  text(x: number, y: number, text: string, style: TextStyle = {}): void {
    const { size = 12, anchor = 'start', fill = colours.ink, bold = false } = style;
    this.#parts.push(
      `<text x="${round(x)}" y="${round(y)}" font-size="${size}" text-anchor="${anchor}" fill="${fill}"${bold ? ' font-weight="600"' : ''}>${escape(text)}</text>`,
    );
  }

  save(name: string): void {
    const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${this.#width} ${this.#height}" width="${this.#width}" height="${this.#height}" font-family="system-ui, sans-serif" role="img">`;
    writeFileSync(
      join(folder, `placement-${name}.svg`),
      `${head}\n${this.#parts.join('\n')}\n</svg>\n`,
    );
    console.log(`docs/images/placement-${name}.svg`);
  }
}

interface TextStyle {
  readonly size?: number;
  readonly anchor?: 'start' | 'middle' | 'end';
  readonly fill?: string;
  readonly bold?: boolean;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function percent(share: number, digits = 1): string {
  return `${(share * 100).toFixed(digits)} %`;
}

/** Keys per target, first replica. */
function loads(placer: Placer): number[] {
  const counts = placer.names.map(() => 0);
  const out = new Int32Array(1);
  for (let lo = 0; lo < keyCount; lo++) {
    placer.pick(0, lo, 1, out);
    counts[out[0] as number] = (counts[out[0] as number] as number) + 1;
  }
  return counts;
}

/** Loads of a hash ring with 100 points per target for the same keys: a key goes to the next point upwards. */
function ringLoads(names: readonly string[]): number[] {
  const points = names
    .flatMap((name, target) =>
      Array.from({ length: 100 }, (_, i) => ({ at: hashText(`${name}-${i}`, 0), target })),
    )
    .toSorted((a, b) => a.at - b.at);
  const counts = names.map(() => 0);
  for (let key = 0; key < keyCount; key++) {
    const hash = hashText(String(key), 0);
    const next = points.find(({ at }) => at >= hash) ?? points[0];
    const target = next?.target ?? 0;
    counts[target] = (counts[target] as number) + 1;
  }
  return counts;
}

function drawShares(): void {
  const names = Array.from({ length: 10 }, (_, i) => `10.0.0.${i + 1}:7253`);
  const ours = loads(compileTargets(names));
  const ring = ringLoads(names);
  const drawing = new Drawing(760, 330, 'Share of 200 000 keys per target, ten targets');
  const mean = keyCount / names.length;
  const scale = 190 / (Math.max(...ring, ...ours) * 1.05);
  const floor = 270;
  for (const [i, name] of names.entries()) {
    const x = 40 + i * 70;
    for (const [j, counts] of [ring, ours].entries()) {
      const height = (counts[i] as number) * scale;
      const fill = j === 0 ? colours.rival : colours.main;
      drawing.box({ x: x + j * 26, y: floor - height, width: 24, height, fill });
      const share = percent((counts[i] as number) / keyCount);
      drawing.text(x + j * 26 + 12, floor - height - 4, share.replace(' %', ''), {
        size: 9,
        anchor: 'middle',
      });
    }
    drawing.text(x + 25, floor + 15, name.replace(':7253', ''), { size: 10, anchor: 'middle' });
  }
  drawing.line([34, floor - mean * scale], [735, floor - mean * scale], colours.moved, 1.5);
  const worst = (counts: readonly number[]) => (Math.max(...counts) / mean).toFixed(3);
  drawing.box({ x: 40, y: 300, width: 12, height: 12, fill: colours.rival });
  drawing.text(58, 310, `ring with 100 points per target: fullest is ${worst(ring)} × the mean`);
  drawing.box({ x: 455, y: 300, width: 12, height: 12, fill: colours.main });
  drawing.text(473, 310, `rendezvous: fullest is ${worst(ours)} × the mean`);
  drawing.save('shares');
}

/** Per target: the keys that stayed and the keys that arrived. */
function drawChange(drawing: Drawing, left: number, names: readonly [string[], string[]]): void {
  const before: Placer = compileTargets(names[0]);
  const after: Placer = compileTargets(names[1]);
  const change = diff(before, after, { keys: keyCount, replicas: 1 });
  const old = loads(before);
  const now = loads(after);
  const all = [...new Set([...names[0], ...names[1]])].toSorted();
  const scale = 480 / keyCount;
  const floor = 250;
  for (const [i, name] of all.entries()) {
    const x = left + i * 84;
    const was = old[before.names.indexOf(name)] ?? 0;
    const is = now[after.names.indexOf(name)] ?? 0;
    const arrived = change.domains.find(({ path }) => path === name)?.arrived ?? 0;
    drawing.box({ x, y: floor - was * scale, width: 28, height: was * scale, fill: colours.rival });
    drawing.box({
      x: x + 31,
      y: floor - (is - arrived) * scale,
      width: 28,
      height: (is - arrived) * scale,
      fill: colours.main,
    });
    drawing.box({
      x: x + 31,
      y: floor - is * scale,
      width: 28,
      height: arrived * scale,
      fill: colours.moved,
    });
    drawing.text(x + 29, floor + 16, name, { anchor: 'middle', bold: true });
    drawing.text(x + 14, floor - was * scale - 4, was === 0 ? '' : percent(was / keyCount, 0), {
      size: 10,
      anchor: 'middle',
    });
    drawing.text(x + 45, floor - is * scale - 4, is === 0 ? '' : percent(is / keyCount, 0), {
      size: 10,
      anchor: 'middle',
    });
  }
  const words = `${percent(change.moved / change.copies, 2)} of the keys move; the least possible is ${percent(change.minimum / change.copies, 2)};`;
  drawing.text(left, floor + 42, words);
  drawing.text(left, floor + 58, `between survivors: ${change.betweenSurvivors}`);
}

function drawMovement(): void {
  const drawing = new Drawing(
    760,
    330,
    'What moves: D joins A, B, C (left); B leaves A, B, C, D (right)',
  );
  drawChange(drawing, 30, [
    ['A', 'B', 'C'],
    ['A', 'B', 'C', 'D'],
  ]);
  drawChange(drawing, 410, [
    ['A', 'B', 'C', 'D'],
    ['A', 'C', 'D'],
  ]);
  const legend = [
    ['before', colours.rival],
    ['stayed', colours.main],
    ['arrived', colours.moved],
  ] as const;
  for (const [i, [word, fill]] of legend.entries()) {
    drawing.box({ x: 480 + i * 90, y: 42, width: 12, height: 12, fill });
    drawing.text(498 + i * 90, 52, word);
  }
  drawing.save('movement');
}

/** The seed's 64 disks; each step adds losses to the one before. */
function recoverySteps(): { title: string; topology: Topology }[] {
  const many = <T>(count: number, make: (i: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i));
  const disks = many(8, (i) => ({ id: `d${i}` }));
  const machines = many(4, (i) => ({ id: `m${i}`, children: disks }));
  const start = buildTopology({
    levels: ['rack', 'machine', 'disk'],
    quorum: { disk: 2, machine: 1, rack: 1 },
    children: many(2, (i) => ({ id: `r${i}`, children: machines })),
  });
  const down = (topology: Topology, ...paths: string[]) =>
    changeVertices(topology, Object.fromEntries(paths.map((path) => [path, { up: false }])));
  const one = down(start, 'r0/m0/d2');
  const two = down(one, 'r0/m0/d5');
  const three = down(two, 'r0/m0/d6');
  const four = down(three, 'r0/m2/d0', 'r0/m2/d3', 'r0/m2/d7');
  return [
    { title: 'start', topology: start },
    { title: '1st disk lost', topology: one },
    { title: '2nd disk lost', topology: two },
    { title: '3rd disk lost: the machine is hollow', topology: three },
    { title: '2nd machine hollow: the rack is hollow', topology: four },
  ];
}

function drawRecovery(): void {
  const steps = recoverySteps();
  const drawing = new Drawing(
    760,
    660,
    'Recovery stays in the smallest domain: where keys arrive at each step',
  );
  for (const [i, { title, topology }] of steps.slice(1).entries()) {
    const before = compileTopology((steps[i] as { topology: Topology }).topology);
    const change = diff(before, compileTopology(topology), { keys: keyCount, replicas: 1 });
    const top = 50 + i * 150;
    const share = percent(change.moved / change.keys, 2);
    drawing.text(20, top + 14, `${title}: ${share} of all keys move, the least possible`, {
      bold: true,
    });
    drawStep(
      drawing,
      top + 26,
      topology,
      new Map(change.domains.map(({ path, arrived }) => [path, arrived])),
    );
  }
  drawing.text(
    20,
    648,
    'Orange: keys arrived (the stronger, the more). Dark: dead disk. Red frame: hollow. Grey: untouched.',
    { fill: colours.faint },
  );
  drawing.save('recovery');
}

function drawStep(
  drawing: Drawing,
  top: number,
  topology: Topology,
  arrived: ReadonlyMap<string, number>,
): void {
  const states = health(topology);
  const most = Math.max(1, ...topology.targets.map(({ path }) => arrived.get(path) ?? 0));
  for (const [r, rack] of topology.children.entries()) {
    const rackX = 20 + r * 365;
    const rackHollow = states.get(rack)?.state !== 'up';
    drawing.box({
      x: rackX,
      y: top,
      width: 355,
      height: 100,
      fill: colours.paper,
      stroke: rackHollow ? colours.hollow : colours.line,
    });
    drawing.text(rackX + 6, top + 94, rack.id, { size: 10, fill: colours.faint });
    for (const [m, machine] of rack.children.entries()) {
      const x = rackX + 8 + m * 87;
      const hollow = states.get(machine)?.state !== 'up';
      drawing.box({
        x,
        y: top + 8,
        width: 80,
        height: 72,
        fill: colours.paper,
        stroke: hollow ? colours.hollow : colours.line,
      });
      for (const [d, disk] of machine.children.entries()) {
        const strength = (arrived.get(disk.path) ?? 0) / most;
        const live = states.get(disk)?.state === 'up';
        const fill = live
          ? mix('#eef1f4', colours.moved, strength === 0 ? 0 : 0.25 + 0.75 * strength)
          : colours.dead;
        drawing.box({
          x: x + 5 + (d % 4) * 18,
          y: top + 14 + Math.floor(d / 4) * 32,
          width: 15,
          height: 26,
          fill,
        });
      }
    }
  }
}

function mix(from: string, to: string, share: number): string {
  const part = (text: string, i: number) => Number.parseInt(text.slice(1 + i * 2, 3 + i * 2), 16);
  const hex = [0, 1, 2].map((i) => {
    const value = part(from, i) + (part(to, i) - part(from, i)) * share;
    return Math.round(value).toString(16).padStart(2, '0');
  });
  return `#${hex.join('')}`;
}

function drawWalk(): void {
  const many = <T>(count: number, make: (i: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i));
  const disks = many(3, (i) => ({ id: `d${i}` }));
  const machines = many(3, (i) => ({ id: `m${i}`, children: disks }));
  const topology = buildTopology({
    levels: ['zone', 'machine', 'disk'],
    children: many(3, (i) => ({ id: `z${i}`, children: machines })),
  });
  const key = 'account/7';
  const { steps, replicas } = explain(topology, key, { replicas: 2 });
  const seen = new Map<string, Candidate>(
    steps.flatMap(({ candidates }) => candidates.map((one) => [one.path, one])),
  );
  const drawing = new Drawing(
    760,
    330,
    `The walk of "${key}" for two replicas: ${replicas.join(', ')}`,
  );
  const place = new Map<string, readonly [number, number]>([['', [380, 60]]]);
  for (const [i, { path }] of topology.targets.entries()) place.set(path, [34 + i * 26.6, 270]);
  for (const zone of topology.children) {
    for (const machine of zone.children)
      place.set(machine.path, [middle(place, machine.children), 195]);
    place.set(zone.path, [middle(place, zone.children), 120]);
  }
  for (const chosen of [false, true]) {
    for (const [path, at] of place) {
      const one = seen.get(path);
      if (path === '' || (one !== undefined && one.share > 0) !== chosen) continue;
      const parent = place.get(path.slice(0, Math.max(0, path.lastIndexOf('/')))) as readonly [
        number,
        number,
      ];
      drawing.line(parent, at, chosen ? colours.moved : colours.line, chosen ? 3 : 1);
    }
  }
  for (const [path, [x, y]] of place) drawVertex(drawing, x, y, { path, one: seen.get(path) });
  drawing.text(
    20,
    318,
    'Numbers: the first digits of the scores that were computed. Vertices without a number cost nothing.',
    { fill: colours.faint },
  );
  drawing.save('walk');
}

function drawVertex(
  drawing: Drawing,
  x: number,
  y: number,
  { path, one }: { path: string; one: Candidate | undefined },
): void {
  const chosen = path === '' || (one !== undefined && one.share > 0);
  const side = y > 250 ? 10 : 14;
  drawing.box({
    x: x - side / 2,
    y: y - side / 2,
    width: side,
    height: side,
    fill: chosen ? colours.moved : colours.rival,
  });
  const name = path.slice(path.lastIndexOf('/') + 1);
  const leafStyle = { size: 10, anchor: 'middle' } as const;
  const isLeaf = y > 250;
  drawing.text(
    isLeaf ? x : x + 12,
    isLeaf ? y + 20 : y - 1,
    name,
    isLeaf ? leafStyle : { size: 10 },
  );
  if (one?.score == null) return;
  const digits = (one.score / 2 ** 32).toFixed(2).slice(1);
  const style = { size: 9, bold: one.share > 0, anchor: isLeaf ? 'middle' : 'start' } as const;
  drawing.text(isLeaf ? x : x + 12, isLeaf ? y + 32 : y + 10, digits, style);
}

function middle(
  place: ReadonlyMap<string, readonly [number, number]>,
  below: readonly { path: string }[],
): number {
  const xs = below.map(({ path }) => place.get(path)?.[0] ?? 0);
  return (Math.min(...xs) + Math.max(...xs)) / 2;
}

mkdirSync(folder, { recursive: true });
drawShares();
drawMovement();
drawRecovery();
drawWalk();
