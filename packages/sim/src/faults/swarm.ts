/**
 * Which faults a run has. Not every fault in every run: each kind is left out of about half of them, so that rare
 * pairs come up together, and a run without crashes, say, judges strictly where a run with crashes must make
 * allowances.
 */
import type { SeededRandom } from '@carillon/core/testing';
import type { Fault } from './faults.ts';
import type { Manner } from '../world/receivers.ts';
import { drawRots } from '../rot/rot.ts';

export interface Shape {
  readonly members: readonly { readonly name: string }[];
  readonly receivers: readonly string[];
  /** Faults may begin before this moment, and none lasts beyond it. */
  readonly safeMs: number;
  readonly durable: boolean;
  readonly source: 'static' | 'etcd';
}

/** Between two losses of a copy: long enough for repair to bring it back. */
const destructionGapMs = 150_000;

type Stall = Fault & { readonly kind: 'stall' };

type Draw = (random: SeededRandom, shape: Shape, atMs: number) => Fault;

const draws: readonly { readonly most: number; readonly ratio: number; readonly draw: Draw }[] = [
  { most: 5, ratio: 0.5, draw: drawCrash },
  { most: 1, ratio: 0.25, draw: drawBlackout },
  { most: 5, ratio: 0.4, draw: drawPause },
  { most: 4, ratio: 0.4, draw: drawCut },
  { most: 3, ratio: 0.35, draw: drawSplit },
  { most: 4, ratio: 0.4, draw: drawRough },
  { most: 3, ratio: 0.4, draw: drawClientLoss },
  { most: 4, ratio: 0.4, draw: drawReceiver },
  { most: 2, ratio: 0.2, draw: drawHide },
  { most: 3, ratio: 0.2, draw: drawStep },
  { most: 2, ratio: 0.2, draw: drawDisk('disk-full', 60_000) },
  { most: 2, ratio: 0.2, draw: drawDisk('disk-fails', 30_000) },
  { most: 2, ratio: 0.4, draw: drawJoin },
  { most: 2, ratio: 0.3, draw: drawDrain },
  { most: 3, ratio: 0.5, draw: drawEtcd },
  { most: 4, ratio: 0.35, draw: drawStall },
];

export function drawFaults(random: SeededRandom, shape: Shape): Fault[] {
  const faults: Fault[] = [];
  for (const { most, ratio, draw } of draws) {
    const own = random.fork();
    if (!own.chance(ratio)) continue;
    const count = own.between(1, most);
    for (let i = 0; i < count; i++) {
      const atMs = Math.round(5000 + own.unit() * (shape.safeMs - 10_000));
      const fault = draw(own, shape, atMs);
      faults.push({ ...fault, forMs: Math.min(fault.forMs, shape.safeMs - fault.atMs) });
    }
  }
  const spared = spare(
    faults.toSorted((a, b) => a.atMs - b.atMs),
    shape,
  );
  const rots = drawRot(random.fork(), shape, spared);
  const phased = withPhases(random, [...spared, ...rots]);
  const stalls = drawLongStalls(random.fork(), shape);
  return [...phased, ...stalls, ...drawRestarts(random.fork(), shape)];
}

/** In a file of members some are joining for a while. */
function withPhases(random: SeededRandom, faults: readonly Fault[]): Fault[] {
  const own = random.fork();
  return faults.map((fault) =>
    fault.kind === 'join' ? { ...fault, joiningMs: own.pick([0, 0, 3000, 60_000]) } : fault,
  );
}

/**
 * Damage to disks, never to two of them before the first can be whole again, nor while copies are destroyed in other
 * ways.
 */
function drawRot(random: SeededRandom, shape: Shape, faults: readonly Fault[]): Fault[] {
  if (!shape.durable || shape.members.length < 2 || !random.chance(0.35)) return [];
  const takenMs = faults.filter((fault) => destroys(fault, shape)).map(({ atMs }) => atMs);
  const found: Fault[] = [];
  for (let i = random.between(1, 3); i > 0; i--) {
    const atMs = Math.round(5000 + random.unit() * (shape.safeMs - 10_000));
    const fault: Fault = {
      kind: 'rot',
      atMs,
      forMs: Math.min(lasting(random, 120_000), shape.safeMs - atMs),
      member: anyMember(random, shape),
      down: random.chance(0.6),
      power: random.chance(0.5),
      rots: drawRots(random),
    };
    if (takenMs.some((ms) => Math.abs(ms - atMs) < destructionGapMs)) continue;
    takenMs.push(atMs);
    found.push(fault);
  }
  return found;
}

/** Drops faults that destroy copies faster than repair can follow: no cluster could keep its promises then. */
function spare(faults: readonly Fault[], shape: Shape): Fault[] {
  let lastMs = Number.NEGATIVE_INFINITY;
  return faults.flatMap((fault) => {
    if (fault.kind === 'blackout' && !shape.durable) return [];
    if (!destroys(fault, shape)) return [fault];
    if (fault.atMs - lastMs < destructionGapMs) return [];
    lastMs = fault.atMs;
    return [fault];
  });
}

/** Whether copies are gone for good by it. */
function destroys(fault: Fault, { durable }: Pick<Shape, 'durable'>): boolean {
  return fault.kind === 'crash' && (fault.wipe || fault.stays || !durable);
}

/** Mostly short, sometimes long. */
function lasting(random: SeededRandom, mostMs: number): number {
  return Math.round(mostMs * random.unit() ** 3) + 10;
}

function anyMember(random: SeededRandom, { members }: Shape): string {
  return random.pick(members).name;
}

function drawCrash(random: SeededRandom, shape: Shape, atMs: number): Fault {
  const member = anyMember(random, shape);
  const power = random.chance(0.5);
  const wipe = shape.durable && random.chance(0.2);
  // Without etcd a dead member would stay in the view for ever.
  const stays = shape.source === 'etcd' && shape.members.length > 2 && random.chance(0.2);
  return { kind: 'crash', atMs, forMs: lasting(random, 120_000), member, power, wipe, stays };
}

function drawBlackout(random: SeededRandom, _: Shape, atMs: number): Fault {
  return { kind: 'blackout', atMs, forMs: lasting(random, 60_000) };
}

function drawPause(random: SeededRandom, shape: Shape, atMs: number): Fault {
  return { kind: 'pause', atMs, forMs: lasting(random, 40_000), member: anyMember(random, shape) };
}

function drawCut(random: SeededRandom, shape: Shape, atMs: number): Fault {
  const from = anyMember(random, shape);
  const to = anyMember(random, shape);
  return { kind: 'cut', atMs, forMs: lasting(random, 90_000), from, to };
}

function drawSplit(random: SeededRandom, { members }: Shape, atMs: number): Fault {
  const side = members.filter(() => random.chance(0.5)).map(({ name }) => name);
  return { kind: 'split', atMs, forMs: lasting(random, 90_000), side };
}

function drawRough(random: SeededRandom, _: Shape, atMs: number): Fault {
  const maybe = (most: number): number => (random.chance(0.5) ? 0 : random.unit() * most);
  return {
    kind: 'rough',
    atMs,
    forMs: lasting(random, 40_000),
    lossRatio: maybe(0.3),
    duplicateRatio: maybe(0.3),
    overtakeRatio: maybe(0.3),
    slowRatio: maybe(0.5),
    slowMs: random.pick([20, 200, 2000]),
  };
}

function drawClientLoss(random: SeededRandom, _: Shape, atMs: number): Fault {
  return { kind: 'client-loss', atMs, forMs: lasting(random, 60_000), ratio: random.unit() * 0.4 };
}

function drawReceiver(random: SeededRandom, shape: Shape, atMs: number): Fault {
  const manners: readonly Manner[] = [
    { does: 'answer', status: 500, afterMs: 1 },
    { does: 'answer', status: 200, afterMs: 1500 },
    { does: 'answer', status: 200, afterMs: 4500 },
    { does: 'hang' },
    { does: 'refuse' },
    { does: 'cut-after-effect' },
    { does: 'flap' },
  ];
  const receiver = random.pick(shape.receivers);
  const manner = random.pick(manners);
  return { kind: 'receiver', atMs, forMs: lasting(random, 90_000), receiver, manner };
}

function drawHide(random: SeededRandom, shape: Shape, atMs: number): Fault {
  const receiver = random.pick(shape.receivers);
  const member = anyMember(random, shape);
  return { kind: 'hide', atMs, forMs: lasting(random, 60_000), receiver, member };
}

function drawStep(random: SeededRandom, shape: Shape, atMs: number): Fault {
  const byMs = random.between(-5000, 5000);
  return { kind: 'step', atMs, forMs: 0, member: anyMember(random, shape), byMs };
}

function drawDisk(kind: 'disk-full' | 'disk-fails', forMsMax: number): Draw {
  return (random, shape, atMs) => {
    const forMs = lasting(random, forMsMax);
    return { kind, atMs, forMs, member: anyMember(random, shape) };
  };
}

function drawJoin(random: SeededRandom, { members }: Shape, atMs: number): Fault {
  const member = `m${members.length + random.between(0, 1)}`;
  return { kind: 'join', atMs, forMs: 0, member };
}

function drawDrain(random: SeededRandom, shape: Shape, atMs: number): Fault {
  return { kind: 'drain', atMs, forMs: 0, member: anyMember(random, shape) };
}

function drawEtcd(random: SeededRandom, shape: Shape, atMs: number): Fault {
  const kind = random.pick(['etcd-away', 'etcd-compacts', 'etcd-cut'] as const);
  const forMs = lasting(random, 60_000);
  if (kind === 'etcd-cut') return { kind, atMs, forMs, member: anyMember(random, shape) };
  return { kind, atMs, forMs };
}

/** Machines so slow that their members get no processor for several seconds. */
function drawLongStalls(random: SeededRandom, shape: Shape): Fault[] {
  if (!random.chance(0.25)) return [];
  return Array.from({ length: random.between(1, 4) }, () => {
    const atMs = Math.round(5000 + random.unit() * (shape.safeMs - 10_000));
    const fault = drawStall(random, shape, atMs);
    const forMs = Math.min(fault.forMs, shape.safeMs - atMs);
    return { ...fault, spanMs: random.pick([2000, 5000]), forMs };
  });
}

/** Members that are told to stop and started again soon, as by an upgrade. Without a disk their timers would go. */
function drawRestarts(random: SeededRandom, shape: Shape): Fault[] {
  if (!shape.durable || !random.chance(0.4)) return [];
  return Array.from({ length: random.between(1, 6) }, () => {
    const atMs = Math.round(5000 + random.unit() * (shape.safeMs - 10_000));
    const forMs = Math.min(lasting(random, 20_000), shape.safeMs - atMs);
    return { kind: 'restart', atMs, forMs, member: anyMember(random, shape) } as const;
  });
}

function drawStall(random: SeededRandom, shape: Shape, atMs: number): Stall {
  return {
    kind: 'stall',
    atMs,
    forMs: lasting(random, 120_000),
    member: anyMember(random, shape),
    spanMs: random.pick([100, 400, 1000]),
    gapMs: random.pick([200, 2000, 10_000]),
    seed: random.u32(),
  };
}
