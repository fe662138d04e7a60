/**
 * Draws the pictures of docs/placement.md from real runs of the package.
 *
 *   node --conditions=source scripts/placement-pictures.ts
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as Plot from '@observablehq/plot';
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
import { colours, drawn, type Picture, type PicturePlot } from './charts.ts';
import { growthPicture } from './growth-picture.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'images');
const keyCount = 200_000;
const rival = '#b0bac5';
const untouched = '#eef1f4';
const dead = '#3b4550';
const hollow = '#c0392b';

function save(name: string, picture: Picture): void {
  writeFileSync(join(folder, `placement-${name}.svg`), drawn(picture));
  console.log(`docs/images/placement-${name}.svg`);
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
  const mean = keyCount / names.length;
  const schemes = [
    { name: 'ring with 100 points per target', fill: rival, counts: ringLoads(names) },
    { name: 'rendezvous', fill: colours.ours, counts: loads(compileTargets(names)) },
  ];
  const bars = schemes.flatMap(({ name, fill, counts }) =>
    counts.map((count, i) => ({
      target: names[i]?.replace(':7253', ''),
      scheme: name,
      fill,
      count,
      share: percent(count / keyCount).replace(' %', ''),
    })),
  );
  const place = { fx: 'target', x: 'scheme', y: 'count' };
  save('shares', {
    title: 'Share of 200 000 keys per target, ten targets',
    plots: [
      {
        height: 250,
        marginLeft: 20,
        marginTop: 20,
        fx: { label: null, axis: 'bottom', domain: bars.map(({ target }) => target) },
        x: { axis: null, domain: schemes.map(({ name }) => name) },
        y: { axis: null },
        marks: [
          Plot.barY(bars, { ...place, fill: 'fill' }),
          Plot.text(bars, { ...place, text: 'share', dy: -6, fontSize: 9 }),
          Plot.ruleY([mean], { stroke: colours.moved, strokeWidth: 1.5 }),
        ],
      },
    ],
    legend: schemes.map(({ name, fill, counts }) => {
      const worst = (Math.max(...counts) / mean).toFixed(3);
      return [`${name}: fullest is ${worst} × the mean`, fill];
    }),
    legendColumns: 1,
  });
}

/** Per target: the keys before, and after a change the keys that stayed and the keys that arrived. */
function changePlot(title: string, names: readonly [string[], string[]]): PicturePlot {
  const before: Placer = compileTargets(names[0]);
  const after: Placer = compileTargets(names[1]);
  const change = diff(before, after, { keys: keyCount, replicas: 1 });
  const [old, now] = [loads(before), loads(after)];
  const bars = [...new Set(names.flat())].toSorted().flatMap((target) => {
    const was = old[before.names.indexOf(target)] ?? 0;
    const is = now[after.names.indexOf(target)] ?? 0;
    const arrived = change.domains.find(({ path }) => path === target)?.arrived ?? 0;
    return [
      { target, when: 'before', from: 0, to: was, whole: was, fill: rival },
      { target, when: 'then', from: 0, to: is - arrived, whole: is, fill: colours.ours },
      { target, when: 'then', from: is - arrived, to: is, whole: 0, fill: colours.moved },
    ];
  });
  const words =
    `${title}: ${percent(change.moved / change.copies, 2)} of the keys move; the least for these loads is ` +
    `${percent(change.minimum / change.copies, 2)}; between survivors: ${change.betweenSurvivors}`;
  const place = { fx: 'target', x: 'when' };
  return {
    height: 190,
    marginLeft: 20,
    marginTop: 40,
    fx: { label: null, axis: 'bottom', padding: 0.3 },
    x: { axis: null },
    y: { axis: null, domain: [0, keyCount / 2.5] },
    marks: [
      Plot.text([words], { fx: ['A'], frameAnchor: 'top-left', dy: -32 }),
      Plot.barY(bars, { ...place, y1: 'from', y2: 'to', fill: 'fill' }),
      Plot.text(bars, {
        ...place,
        y: 'whole',
        filter: ({ whole }: { whole: number }) => whole > 0,
        text: ({ whole }: { whole: number }) => percent(whole / keyCount, 0),
        dy: -7,
        fontSize: 10,
      }),
    ],
  };
}

function drawMovement(): void {
  const [three, four] = [
    ['A', 'B', 'C'],
    ['A', 'B', 'C', 'D'],
  ];
  save('movement', {
    title: 'The keys that move when a target joins or leaves',
    plots: [changePlot('D joins', [three, four]), changePlot('B leaves', [four, ['A', 'C', 'D']])],
    legend: [
      ['before', rival],
      ['stayed', colours.ours],
      ['arrived', colours.moved],
    ],
    legendColumns: 3,
  });
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
  save('recovery', {
    title: 'Recovery stays in the smallest domain: where keys arrive at each step',
    plots: steps.slice(1).map(({ title, topology }, i) => {
      const before = compileTopology((steps[i] as { topology: Topology }).topology);
      const change = diff(before, compileTopology(topology), { keys: keyCount, replicas: 1 });
      const share = percent(change.moved / change.keys, 2);
      const arrived = new Map(change.domains.map((domain) => [domain.path, domain.arrived]));
      return stepPlot(
        `${title}: ${share} of all keys move, the least for these loads`,
        topology,
        arrived,
      );
    }),
    legend: [
      ['keys arrived, the stronger the more', colours.moved],
      ['untouched', untouched],
      ['dead disk', dead],
      ['frame of a hollow machine or rack', hollow],
    ],
  });
}

/** Racks side by side, four machines in each, eight disks in each machine in two rows. */
function stepPlot(
  title: string,
  topology: Topology,
  arrived: ReadonlyMap<string, number>,
): PicturePlot {
  const states = health(topology);
  const most = Math.max(1, ...topology.targets.map(({ path }) => arrived.get(path) ?? 0));
  const frameOf = (vertex: Topology['children'][number]): string =>
    states.get(vertex)?.state === 'up' ? colours.grid : hollow;
  const racks = topology.children.map((rack, r) => ({
    rack,
    stroke: frameOf(rack),
    x1: r * 23,
    x2: r * 23 + 22,
    y1: 0,
    y2: 4,
  }));
  const machines = racks.flatMap(({ rack, x1 }) =>
    rack.children.map((machine, m) => ({
      machine,
      stroke: frameOf(machine),
      x1: x1 + 0.4 + m * 5.4,
      x2: x1 + 5.4 + m * 5.4,
      y1: 0.4,
      y2: 3.2,
    })),
  );
  const disks = machines.flatMap(({ machine, x1 }) =>
    machine.children.map((disk, d) => {
      const [x, y] = [x1 + 0.4 + (d % 4) * 1.1, 0.7 + Math.floor(d / 4) * 1.2];
      const strength = (arrived.get(disk.path) ?? 0) / most;
      const isLive = states.get(disk)?.state === 'up';
      const fill = strength > 0 ? colours.moved : isLive ? untouched : dead;
      const opacity = strength > 0 ? 0.25 + 0.75 * strength : 1;
      return { fill, opacity, x1: x, x2: x + 0.9, y1: y, y2: y + 1 };
    }),
  );
  const box = { x1: 'x1', x2: 'x2', y1: 'y1', y2: 'y2' };
  return {
    height: 140,
    marginLeft: 20,
    marginTop: 26,
    marginBottom: 14,
    axis: null,
    x: { domain: [0, 45] },
    y: { domain: [4, 0] },
    marks: [
      Plot.text([title], { frameAnchor: 'top-left', dy: -20, fontWeight: 600 }),
      Plot.rect([...racks, ...machines], {
        ...box,
        fill: 'none',
        stroke: 'stroke',
        strokeWidth: 2,
      }),
      Plot.rect(disks, { ...box, fill: 'fill', fillOpacity: 'opacity' }),
      Plot.text(racks, {
        x: 'x1',
        y: 3.6,
        text: ({ rack }: (typeof racks)[number]) => rack.id,
        textAnchor: 'start',
        dx: 6,
        fill: colours.faint,
      }),
    ],
    opacity: { domain: [0, 1], range: [0, 1] },
  };
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
  const vertices = walkVertices(topology, seen);
  const edges = vertices
    .filter(({ depth }) => depth > 0)
    .toSorted((a, b) => Number(a.isChosen) - Number(b.isChosen));
  const beside = { x: 'x', y: 'depth', text: 'words', fontSize: 10 };
  save('walk', {
    title: `The walk of "${key}" for two replicas: ${replicas.join(', ')}`,
    plots: [
      {
        height: 304,
        marginLeft: 20,
        marginRight: 30,
        marginBottom: 64,
        marginTop: 10,
        axis: null,
        y: { reverse: true },
        marks: [
          Plot.link(edges, {
            x1: 'fromX',
            y1: ({ depth }: Vertex) => depth - 1,
            x2: 'x',
            y2: 'depth',
            stroke: ({ isChosen }: Vertex) => (isChosen ? colours.moved : colours.grid),
            strokeWidth: 2,
          }),
          Plot.dot(vertices, { x: 'x', y: 'depth', fill: 'fill', symbol: 'square', r: 7 }),
          Plot.text(vertices, { ...beside, filter: ({ depth }: Vertex) => depth === 3, dy: 22 }),
          Plot.text(vertices, {
            ...beside,
            filter: ({ depth }: Vertex) => depth < 3,
            textAnchor: 'start',
            dx: 12,
          }),
          Plot.text(
            [
              'Numbers: the first digits of the scores that were computed. Vertices without a number cost nothing.',
            ],
            { frameAnchor: 'bottom-left', dx: -4, dy: 56, fill: colours.faint },
          ),
        ],
      },
    ],
  });
}

type Vertex = ReturnType<typeof walkVertices>[number];

/** Every vertex with its place: above the middle of the leaves below it. */
function walkVertices(topology: Topology, seen: ReadonlyMap<string, Candidate>) {
  const leafPaths = topology.targets.map(({ path }) => path);
  const across = (path: string): number => {
    const below = leafPaths.flatMap((leaf, i) => (leaf.startsWith(path) ? [i] : []));
    return below.reduce((sum, i) => sum + i, 0) / below.length;
  };
  const paths = [
    '',
    ...new Set(leafPaths.flatMap((leaf) => [leaf.slice(0, 2), leaf.slice(0, 5), leaf])),
  ];
  return paths.map((path) => {
    const one = seen.get(path);
    const isChosen = path === '' || (one !== undefined && one.share > 0);
    const above = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    const depth = path === '' ? 0 : path.split('/').length;
    const score = one?.score == null ? '' : (one.score / 2 ** 32).toFixed(2).slice(1);
    const name = path.slice(path.lastIndexOf('/') + 1);
    const fill = isChosen ? colours.moved : rival;
    return {
      words: `${name}\n${score}`,
      isChosen,
      fill,
      x: across(path),
      depth,
      fromX: across(above),
    };
  });
}

mkdirSync(folder, { recursive: true });
drawShares();
drawMovement();
drawRecovery();
drawWalk();
save('growth', growthPicture());
