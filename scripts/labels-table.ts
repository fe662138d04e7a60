/**
 * Measures members with labels over a thousand random clusters, by the rule that holds and by the one before it, and
 * writes the table into docs/placement.md.
 *
 *   node --conditions=source scripts/labels-table.ts [--clusters N] [--print]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  algorithm,
  compileLabelled,
  diff,
  evenShares,
  hashText,
  hotFrom,
  labelsAlgorithm,
  type LabelledMember,
  type Placer,
} from '@carillon/placement';

const begin = '<!-- labels-table: written by scripts/labels-table.ts -->';
const end = '<!-- labels-table ends -->';
const keyCount = 4000;
const zoneCountMax = 8;
const sizeMax = 10;
const factorMax = 4;

/** A cluster with a member that joins it. */
interface Case {
  readonly members: readonly LabelledMember[];
  readonly joining: LabelledMember;
  readonly zones: number;
  readonly zonesAfter: number;
  readonly factor: number;
}

interface Tally {
  readonly hottest: number[];
  over: number;
  worst: number;
  keys: number;
  swaps: number;
  moved: number;
  minimum: number;
  elsewhere: number;
}

/** A number from 0 to 1 that depends on its name alone. */
function chance(name: string): number {
  return hashText(name, 0) / 2 ** 32;
}

const weights = [0.5, 1, 1, 2, 3];

function caseOf(number: number, isWeighted: boolean): Case {
  const draw = (what: string, from: number, to: number) =>
    from + Math.floor(chance(`${number} ${what}`) * (to - from + 1));
  const zones = draw('zones', 1, zoneCountMax);
  const sizes = Array.from({ length: zones }, (_, zone) =>
    chance(`${number} lone ${zone}`) < 0.3 ? 1 : draw(`size ${zone}`, 1, sizeMax),
  );
  const members = sizes.flatMap((size, zone) =>
    Array.from({ length: size }, (_, i) => ({
      name: `10.${number % 256}.${zone}.${i}:7253`,
      labels: { zone: `zone-${zone}` },
      ...(isWeighted && { weight: weights[draw(`weight ${zone} ${i}`, 0, 4)] ?? 1 }),
    })),
  );
  const into = draw('into', 0, zones);
  return {
    members,
    joining: { name: `10.${number % 256}.200.1:7253`, labels: { zone: `zone-${into}` } },
    zones,
    zonesAfter: Math.max(zones, into + 1),
    factor: Math.min(draw('factor', 1, factorMax), members.length),
  };
}

function measure(one: Case, id: string, tally: Tally): void {
  const { members, joining, factor } = one;
  const before = compileLabelled(members, id);
  const after = compileLabelled([...members, joining], id);
  const change = diff(before, after, { replicas: factor, keys: keyCount });
  const held = copies(before, factor);
  const shares = evenShares(members, factor);
  const times = zoneTimes(members, shares, held);
  tally.hottest.push(times);
  tally.worst = Math.max(tally.worst, times);
  if (times > hotFrom) tally.over++;
  tally.moved += change.moved;
  tally.minimum += change.minimum;
  const zoneOf = new Map(members.map(({ name, labels }) => [name, labels?.['zone']]));
  tally.elsewhere += change.flows
    .filter(({ to }) => to !== joining.name && zoneOf.get(to) !== joining.labels?.['zone'])
    .reduce((sum, flow) => sum + flow.copies, 0);
  if (one.zones !== one.zonesAfter && one.zones < factor) return;
  tally.keys += keyCount;
  tally.swaps += swaps(before, after, factor);
}

/**
 * The zone that holds most of the share that weights and distinct zones ask of its members, as a multiple of that
 * share.
 */
function zoneTimes(
  members: readonly LabelledMember[],
  shares: ReturnType<typeof evenShares>,
  held: ReadonlyMap<string, number>,
): number {
  const possible = new Map(shares.map(({ name, even, fair }) => [name, Math.max(even, fair)]));
  const zones = Map.groupBy(members, ({ labels }) => labels?.['zone']);
  const sum = (inside: readonly LabelledMember[], of: ReadonlyMap<string, number>) =>
    inside.reduce((total, { name }) => total + (of.get(name) ?? 0), 0);
  return Math.max(
    ...[...zones.values()].map((inside) => sum(inside, held) / keyCount / sum(inside, possible)),
  );
}

function copies(placer: Placer, factor: number): Map<string, number> {
  const held = new Map<string, number>();
  for (let lo = 0; lo < keyCount; lo++) {
    for (const name of picked(placer, lo, factor)) held.set(name, (held.get(name) ?? 0) + 1);
  }
  return held;
}

function swaps(before: Placer, after: Placer, factor: number): number {
  let count = 0;
  for (let lo = 0; lo < keyCount; lo++) {
    const old = picked(before, lo, factor);
    const now = picked(after, lo, factor);
    if (now.indexOf(old[0] as string) > 0 || old.indexOf(now[0] as string) > 0) count++;
  }
  return count;
}

function picked(placer: Placer, lo: number, factor: number): string[] {
  const out = new Int32Array(factor);
  const size = placer.pick(0, lo, factor, out);
  return Array.from(out.subarray(0, size), (i) => placer.names[i] as string);
}

function row(title: string, tally: Tally): string {
  const sorted = tally.hottest.toSorted((a, b) => a - b);
  const at = (part: number) =>
    (sorted[Math.floor(part * (sorted.length - 1))] as number).toFixed(2);
  const cells = [
    title,
    at(0.5),
    at(0.9),
    tally.worst.toFixed(2),
    `${((100 * tally.over) / sorted.length).toFixed(1)} %`,
    `${((100 * tally.swaps) / tally.keys).toFixed(2)} %`,
    `${(tally.moved / tally.minimum).toFixed(2)} ×`,
    `${((100 * tally.elsewhere) / tally.moved).toFixed(1)} %`,
  ];
  return `| ${cells.join(' | ')} |`;
}

function table(clusters: number): string {
  const rows = [
    { title: 'before: `carillon-placement-1`', id: algorithm, isWeighted: false },
    { title: 'now: `carillon-labels-2`', id: labelsAlgorithm, isWeighted: false },
    { title: 'before, weights 0.5 to 3', id: algorithm, isWeighted: true },
    { title: 'now, weights 0.5 to 3', id: labelsAlgorithm, isWeighted: true },
  ].map(({ title, id, isWeighted }) => {
    const tally: Tally = {
      hottest: [],
      over: 0,
      worst: 0,
      keys: 0,
      swaps: 0,
      moved: 0,
      minimum: 0,
      elsewhere: 0,
    };
    for (let number = 0; number < clusters; number++)
      measure(caseOf(number, isWeighted), id, tally);
    return row(title, tally);
  });
  return [
    `| ${clusters} random clusters, a member joins | hottest ÷ possible: median | 90 % | worst | over ${hotFrom} | swaps | moved ÷ least | elsewhere |`,
    '|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const { values } = parseArgs({
  options: { clusters: { type: 'string', default: '1000' }, print: { type: 'boolean' } },
});
const text = table(Number(values.clusters));
if (values.print) console.log(text);
else {
  const page = join(import.meta.dirname, '..', 'docs', 'placement.md');
  const [head, rest] = readFileSync(page, 'utf8').split(begin);
  const tail = rest?.split(end)[1];
  if (head === undefined || tail === undefined)
    throw new Error(`${page} has no place for the table.`);
  writeFileSync(page, `${head}${begin}\n\n${text}\n\n${end}${tail}`);
}
