/**
 * Everything a seed decides, drawn before anything runs: the cluster, the timers and the faults. Plain data, so that a
 * failing plan can be printed, and shrunk by leaving things out.
 */
import { SeededRandom } from '@carillon/core/testing';
import type { Fault } from './faults/faults.ts';
import type { TimerWish } from './history.ts';
import type { ClockFaults } from './world/process.ts';
import { nearFaults } from './faults/near-faults.ts';
import { drawFaults } from './faults/swarm.ts';
import { periodsMs, zoneNames } from './wall-timing.ts';
import type { Traits } from './world/views.ts';

const minuteMs = 60_000;
/** At the end of a run everything is whole again for this long, and all promises must come true. */
export const healedMs = 4 * minuteMs;

/** No client begins anything in the last part of a run. */
const lastMs = minuteMs;

/**
 * A letter that is sent again settles within this time, by a delivery or as a letter: so it is sent this long before
 * the end.
 */
const settledMs = 2.5 * minuteMs;

/** One step of the clients with a timer, taken after a wait. */
export interface Step {
  readonly waitMs: number;
  readonly does: 'set' | 'cancel' | 'read';
  readonly wish: TimerWish | null;
  /** A cancel: of all timers with the tag, which is this one. */
  readonly byTag?: boolean;
}

export interface TimerPlan {
  readonly startMs: number;
  /** With an Idempotency-Key. */
  readonly keyed: boolean;
  /** In a batch. */
  readonly batched: boolean;
  readonly steps: readonly Step[];
  /** Two clients that know nothing of each other take turns. */
  readonly strangers?: boolean;
  readonly seed: number;
  /** The usual one, where none is named. */
  readonly namespace?: string;
  /** With a tag of its own. */
  readonly tagged?: boolean;
}

/** A client looks through the dead letters at `atMs`, and sends some of them again or discards them. */
export interface LettersPlan {
  readonly atMs: number;
  readonly does: 'redeliver' | 'discard';
  /** The share of the existing letters to handle. */
  readonly ratio: number;
  readonly seed: number;
}

/** A client lists all timers again and again, page after page. */
export interface ReaderPlan {
  readonly atMs: number;
  readonly forMs: number;
  /** Timers of a page. */
  readonly limit: number;
  readonly seed: number;
}

export interface MemberPlan {
  readonly name: string;
  readonly clock: ClockFaults;
}

export interface Plan {
  readonly seed: number;
  readonly minutes: number;
  readonly source: 'static' | 'etcd';
  readonly durable: boolean;
  /** How long ended timers are remembered. */
  readonly tombstoneMs: number;
  readonly delayMs: number;
  readonly viewDelayMs: number;
  readonly members: readonly MemberPlan[];
  readonly receivers: readonly string[];
  readonly timers: readonly TimerPlan[];
  readonly letters: readonly LettersPlan[];
  readonly faults: readonly Fault[];
  /** Labels and weights; plans that were kept from before have none. */
  readonly traits?: Traits;
  /** Callbacks of one member under way to one receiver; where none is said, as many as members are used to. */
  readonly callPlaces?: number;
  /** Pops that receivers say they take in a request; where none is said, they say nothing. */
  readonly togetherMax?: number;
  readonly readers?: readonly ReaderPlan[];
  /** Bytes that get from one member to another in a millisecond; where none is said, any number. */
  readonly bytesPerMs?: number;
}

export interface PlanOptions {
  readonly minutes: number;
  /** Timers near the faults, and changed quickly (`faults/near-faults.ts`). */
  readonly dense: boolean;
  /** Only these timers and faults of the plan, by their number; null: all. */
  readonly timers: readonly number[] | null;
  readonly faults: readonly number[] | null;
}

export const wholePlan: PlanOptions = { minutes: 10, dense: false, timers: null, faults: null };

export function drawPlan(seed: number, options: PlanOptions): Plan {
  const random = new SeededRandom(seed);
  const { minutes } = options;
  const safeMs = Math.max(minuteMs, minutes * minuteMs - healedMs);
  const memberCount = random.pick([1, 2, 3, 3, 3, 3, 4, 5]);
  const drift = random.chance(0.5) ? 0 : random.between(10, 200);
  const offMs = random.chance(0.5) ? 0 : random.between(10, 5000);
  const members = Array.from({ length: memberCount }, (_, i) => ({
    name: `m${i}`,
    clock: {
      driftPpm: drift === 0 ? 0 : random.between(-drift, drift),
      wallOffsetMs: offMs === 0 ? 0 : random.between(-offMs, offMs),
    },
  }));
  const receivers = ['r0', 'r1', 'r2'];
  const durable = random.chance(0.75);
  const source = random.chance(0.35) ? 'etcd' : 'static';
  const delayMs = random.pick([0.5, 1, 2]);
  const viewDelayMs = random.pick([0, 50, 1000, 4000]);
  const timers = drawTimers(random.fork(), minutes * minuteMs - lastMs, receivers);
  const shape = { members, receivers, safeMs, durable, source } as const;
  const faults = drawFaults(random.fork(), shape);
  const tombstoneMs = random.chance(0.4) ? minuteMs : 60 * minuteMs;
  const letters = drawLetters(random.fork(), minutes * minuteMs - settledMs);
  const large = drawLarge(random.fork(), members.length);
  const traits = drawTraits(random.fork());
  const belonging = drawBelonging(random.fork());
  const together = drawTogether(random.fork());
  const wall = drawWall(random.fork(), minutes);
  const said = drawSaid(random.fork());
  const lasting = drawLasting(random.fork());
  const reading = drawReading(random.fork(), safeMs);
  const callPlaces = together.callPlaces ?? said.callPlaces;
  const usual = timers
    .map(large.timer)
    .map(belonging)
    .map(together.timer)
    .map(wall)
    .map(lasting)
    .map(reading.timer);
  return {
    seed,
    minutes,
    source,
    durable,
    tombstoneMs,
    delayMs,
    viewDelayMs,
    members: [...members, ...large.members],
    receivers,
    timers: only(options.dense ? nearFaults(seed, usual, faults) : usual, options.timers),
    letters,
    faults: only(faults, options.faults),
    traits,
    ...(callPlaces !== null && { callPlaces }),
    ...(reading.readers.length > 0 && { readers: reading.readers, bytesPerMs: gigabit }),
    ...(said.togetherMax !== null && { togetherMax: said.togetherMax }),
  };
}

function only<T>(all: readonly T[], kept: readonly number[] | null): readonly T[] {
  return kept === null ? all : all.filter((_, i) => kept.includes(i));
}

/** Intervals from the shortest that is promised to minutes. */
const intervalsMs = [
  100, 100, 250, 1000, 1000, 3000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000,
];
const popsMax = 40;

function drawTimers(
  random: SeededRandom,
  spanMs: number,
  receivers: readonly string[],
): TimerPlan[] {
  const count = random.between(8, 50);
  const factorMax = random.pick([1, 2, 3, 3]);
  return Array.from({ length: count }, () => {
    const own = random.fork();
    const steps: Step[] = [];
    const wish = (): TimerWish => drawWish(own, spanMs, receivers, factor);
    const factor = own.between(own.chance(0.1) ? 1 : Math.min(2, factorMax), factorMax);
    steps.push({ waitMs: 0, does: 'set', wish: wish() });
    while (own.chance(0.45) && steps.length < 5) {
      const waitMs = own.unit() * own.pick([200, 3000, 30_000, 120_000]);
      const does = own.pick(['set', 'cancel', 'read'] as const);
      steps.push({ waitMs, does, wish: does === 'set' ? wish() : null });
    }
    const startMs = 2000 + own.unit() * spanMs;
    const how = { keyed: own.chance(0.4), batched: own.chance(0.15), seed: own.u32() };
    return { startMs, ...how, steps, strangers: own.chance(0.25) };
  });
}

const copiesMax = 6;

/** Some clusters are larger than most, and some timers have more copies than most. */
function drawLarge(random: SeededRandom, memberCount: number) {
  const more = random.chance(0.15) ? random.between(1, 3) : 0;
  const members = Array.from({ length: more }, (_, i) => ({
    name: `m${memberCount + i}`,
    clock: { driftPpm: 0, wallOffsetMs: 0 },
  }));
  const ratio = random.chance(0.25) ? random.pick([0.2, 1]) : 0;
  const timer = (plan: TimerPlan): TimerPlan => {
    if (!random.chance(ratio)) return plan;
    const factor = random.between(4, copiesMax);
    return withWishes(plan, (wish) => ({ ...wish, factor }));
  };
  return { members, timer };
}

/** Opaques up to the limit, which counts the name of the operation too. */
const paddingsBytes = [1000, 20_000, 65_000];

/** Namespaces, tags and large opaques. */
function drawBelonging(random: SeededRandom): (plan: TimerPlan) => TimerPlan {
  const namespaces = random.chance(0.4) ? ['default', 'red', 'blue'] : ['default'];
  const taggedRatio = random.chance(0.5) ? 0.5 : 0;
  const largeRatio = random.chance(0.25) ? 0.15 : 0;
  return (plan) => {
    const own = random.fork();
    const tagged = own.chance(taggedRatio);
    const padding = own.chance(largeRatio) ? { paddingBytes: own.pick(paddingsBytes) } : {};
    const steps = plan.steps.map((step) => ({
      ...step,
      wish: step.wish === null ? null : { ...step.wish, ...padding },
      byTag: tagged && step.does === 'cancel' && own.chance(0.5),
    }));
    return { ...plan, steps, tagged, namespace: own.pick(namespaces) };
  };
}

/** Callbacks that may come in one request with others. They do where they wait for a place. */
function drawTogether(random: SeededRandom) {
  const ratio = random.chance(0.4) ? random.pick([0.3, 1]) : 0;
  const callPlaces = ratio > 0 && random.fork().chance(0.7) ? 1 : null;
  const timer = (plan: TimerPlan): TimerPlan => {
    const own = random.fork();
    return withWishes(plan, (wish) => (own.chance(ratio) ? { ...wish, batch: true } : wish));
  };
  return { callPlaces, timer };
}

/**
 * Receivers that say in their answers that they take several pops in a request, mostly with one place, so that pops
 * wait.
 */
function drawSaid(random: SeededRandom) {
  const togetherMax = random.chance(0.4) ? random.pick([2, 500]) : null;
  const callPlaces = togetherMax !== null && random.chance(0.7) ? 1 : null;
  return { togetherMax, callPlaces };
}

/** In longer runs the hour that patterns with a zone name would end. */
const zonedMinutesMax = 50;
/**
 * Longer than any client repeats one request: a timer that lasts longer has not ended when the last repetition acts.
 */
const insistedMs = 120_000;
const offsetsMinutes = [0, 0, 330, -210];
/** -1000: the instant has passed. */
const waitsMs = [-1000, 100, 1000, 5000, 5000, 20_000, 60_000];

/** Timers at an instant, and by cron. */
function drawWall(random: SeededRandom, minutes: number): (plan: TimerPlan) => TimerPlan {
  const ratio = random.chance(0.5) ? random.pick([0.2, 0.7]) : 0;
  const zoned = minutes <= zonedMinutesMax;
  return (plan) => {
    const own = random.fork();
    return withWishes(plan, (wish) => {
      if (!own.chance(ratio)) return wish;
      return own.chance(0.5) ? atWish(own, wish) : cronWish(own, wish, zoned);
    });
  };
}

function atWish(random: SeededRandom, wish: TimerWish): TimerWish {
  const roundMs = random.pick([1, 10_000]);
  const wall = { kind: 'at', roundMs, offsetMinutes: random.pick(offsetsMinutes) } as const;
  return { ...wish, intervalMs: random.pick(waitsMs), count: 1, wall };
}

function cronWish(random: SeededRandom, wish: TimerWish, zoned: boolean): TimerWish {
  const intervalMs = random.pick(periodsMs);
  const zone = random.chance(0.5) && zoned ? random.pick(zoneNames) : null;
  const ends = random.pick(['count', 'until'] as const);
  const countMin = ends === 'until' ? Math.ceil(insistedMs / intervalMs) + 1 : 1;
  const count = Math.max(countMin, random.between(1, 12));
  return { ...wish, intervalMs, count, wall: { kind: 'cron', zone, ends } };
}

/** A timer without an end pops at most this often, so that a run is not about it alone. */
const foreverMsMin = 3000;

/** Timers that never end by themselves, and pops that are given up after a few attempts. */
function drawLasting(random: SeededRandom): (plan: TimerPlan) => TimerPlan {
  const foreverRatio = random.chance(0.4) ? 0.2 : 0;
  const retryRatio = random.chance(0.5) ? random.pick([0.2, 1]) : 0;
  return (plan) => {
    const own = random.fork();
    const attempts = own.pick([1, 2, 3, 5]);
    const retry = { 'max-attempts': attempts, base: own.pick([0.1, 0.3, 2]) };
    const limited = own.chance(retryRatio);
    return withWishes(plan, (wish) => {
      const may = wish.wall?.kind !== 'at' && wish.intervalMs >= foreverMsMin;
      return {
        ...wish,
        ...(may && own.chance(foreverRatio) && endless(wish)),
        ...(limited && { retry }),
      };
    });
  };
}

function endless({ wall }: TimerWish): Partial<TimerWish> {
  const count = Number.POSITIVE_INFINITY;
  return {
    count,
    forever: true,
    ...(wall?.kind === 'cron' && { wall: { ...wall, ends: 'count' } }),
  };
}

/** Bytes a millisecond. */
const gigabit = 125_000;
const readersMax = 3;

/** Clients that list large timers all the while: their pages share the network with claims. */
function drawReading(random: SeededRandom, safeMs: number) {
  const readers = !random.chance(0.2)
    ? []
    : Array.from({ length: random.between(1, readersMax) }, () => ({
        atMs: Math.round(5000 + random.unit() * safeMs),
        forMs: random.pick([1000, 5000]),
        limit: random.pick([7, 100, 1000]),
        seed: random.u32(),
      }));
  const timer = (plan: TimerPlan): TimerPlan => {
    const own = random.fork();
    if (readers.length === 0 || !own.chance(0.3)) return plan;
    return withWishes(plan, (wish) => ({ ...wish, paddingBytes: 65_000 }));
  };
  return { readers, timer };
}

/** The plan with other wishes, step by step. */
function withWishes(plan: TimerPlan, change: (wish: TimerWish) => TimerWish): TimerPlan {
  const steps = plan.steps.map((step) =>
    step.wish === null ? step : { ...step, wish: change(step.wish) },
  );
  return { ...plan, steps };
}

/** Traits of all members that may ever take part. */
function drawTraits(random: SeededRandom): Traits {
  const zones = random.chance(0.4) ? random.between(2, 3) : 0;
  const heavy = random.chance(0.3);
  const traits: Record<string, Traits[string]> = {};
  for (let i = 0; i < 2 * copiesMax; i++) {
    const labels: Record<string, string> =
      zones === 0 ? {} : { zone: `z${random.between(1, zones)}` };
    traits[`m${i}`] = { labels, weight: heavy ? random.pick([1, 1, 2, 5]) : 1 };
  }
  return traits;
}

function drawLetters(random: SeededRandom, untilMs: number): LettersPlan[] {
  if (random.chance(0.3)) return [];
  const letters = Array.from({ length: random.between(1, 6) }, () => ({
    atMs: untilMs * random.unit(),
    does: random.chance(0.75) ? ('redeliver' as const) : ('discard' as const),
    ratio: random.pick([0.2, 0.5, 1]),
    seed: random.u32(),
  }));
  return letters.toSorted((a, b) => a.atMs - b.atMs);
}

function drawWish(
  random: SeededRandom,
  spanMs: number,
  receivers: readonly string[],
  factor: number,
): TimerWish {
  const intervalMs = random.pick(intervalsMs);
  const fitting = Math.max(1, Math.floor(spanMs / intervalMs));
  const count = random.chance(0.4) ? 1 : random.between(1, Math.min(popsMax, fitting));
  return { intervalMs, count, factor, receiver: random.pick(receivers) };
}
