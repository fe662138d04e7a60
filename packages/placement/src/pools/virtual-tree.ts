/**
 * A pool's leaves regrouped for fewer hashes per key. Within one zone a leaf is a stripe (disk slot × the slot
 * levels below a target, for example namespace × queue) on one of the pool's machines. The first levels of the
 * virtual tree narrow down the stripe, the last one ranks the machines: siblings of the last round are on
 * different machines, so its best three are three replicas.
 *
 * V1. A step is one ranking round. One leaf of a zone takes as many steps as there are fan-outs; all replicas take
 *     one walk per zone.
 * V2. Stripes cannot fail, so ranking them buys nothing: without `fanOuts` the stripe comes from the bits of one
 *     hash. Machines can, so they are always ranked, by their owners' seeds (P1 in pool.ts).
 * V3. When the fan-outs multiply to more than there are stripes, virtual leaves are spread over the stripes
 *     evenly, to within one.
 */
import { PlacementError } from '../errors.ts';
import { hashText } from '../flat/hash.ts';
import { checkCount, list, record, refuseUnknownFields, show, wholeNumber } from '../input.ts';
import { type Key, readKey } from '../flat/key.ts';
import { checkPool, type Pool, type PoolVertex } from './pool.ts';
import { replicasMax } from '../policy.ts';
import { Ranker, raiseUntilFree } from '../flat/ranker.ts';
import { scale, slotCount, slotDigits } from '../slots.ts';

export interface VirtualTreeOptions {
  /** Fan-outs from the top; the last must be the number of machines per zone. Absent: stripe bits (V2). */
  readonly fanOuts?: readonly number[];
}

const optionFields = ['fanOuts'] as const satisfies (keyof VirtualTreeOptions)[];

export interface Leaf {
  /** The target that serves. */
  readonly path: string;
  /** Index per slot level below the target. */
  readonly slot: readonly number[];
  /** Zone, machine and disk in the pool's coordinates. */
  readonly coordinates: readonly [zone: number, machine: number, disk: number];
}

export interface Zone {
  readonly seed: number;
  /** The pool's machine slots, each with its disk slots. */
  readonly machines: readonly PoolVertex[];
}

/** A key's leaves in a pool. Immutable, as the pool is. Placed on its targets by `tablePlacer`. */
export class VirtualTree {
  readonly pool: Pool;
  /** Ranked stripe levels from the top; empty with stripe bits. */
  readonly stripeFanOuts: readonly number[];
  /** Leaves of one machine slot: disk slots × slots per target. */
  readonly stripeCount: number;
  readonly zones: readonly Zone[];
  /** Paths of all targets of the topology. */
  readonly names: readonly string[];
  readonly #machineCount: number;
  readonly #slotCount: number;
  /** Positions: first the zones, then per zone its stripe rounds and its machines. */
  readonly #ranker: Ranker;
  readonly #zoneStart: Int32Array;
  readonly #machineStart: Int32Array;
  /** Whether anybody serves (zone, machine, disk). */
  readonly #served: Uint8Array;
  /** Per zone while one key is placed: its share, leaves, how many, and the score of the first. */
  readonly #share: Int32Array;
  readonly #found: Int32Array;
  readonly #foundCount: Int32Array;
  readonly #firstScore: Float64Array;
  readonly #order: Int32Array;

  constructor(pool: Pool, options: VirtualTreeOptions = {}) {
    checkPool(pool);
    refuseUnknownFields(record(options, 'The options of a virtual tree'), optionFields, {
      what: 'A virtual tree',
    });
    this.pool = pool;
    this.names = pool.names;
    this.zones = zonesOf(pool);
    const machineCount = longest(this.zones.map(({ machines }) => machines));
    const disks = longest(this.zones.flatMap(({ machines }) => machines.map((m) => m.children)));
    this.#machineCount = machineCount;
    this.#slotCount = slotCount(pool.topology.slots);
    this.stripeCount = disks * this.#slotCount;
    this.stripeFanOuts = readFanOuts(options.fanOuts, machineCount, this.stripeCount);
    const layout = layOutSeeds(pool, this.zones, this.stripeFanOuts);
    this.#zoneStart = Int32Array.from(layout.zoneStart);
    this.#machineStart = Int32Array.from(layout.machineStart);
    this.#ranker = new Ranker({
      seeds: Int32Array.from(layout.seeds),
      weights: new Float64Array(layout.seeds.length).fill(1),
      rangeMax: Math.max(machineCount, this.zones.length, ...this.stripeFanOuts),
      hash: pool.topology.hash,
    });
    this.#served = readServed(this.zones, machineCount, disks);
    this.#share = new Int32Array(this.zones.length);
    this.#found = new Int32Array(this.zones.length * machineCount);
    this.#foundCount = new Int32Array(this.zones.length);
    this.#firstScore = new Float64Array(this.zones.length);
    this.#order = new Int32Array(this.zones.length);
  }

  /** The leaves of a 64-bit key, as numbers for `leaf`, into `out`; returns how many. Allocates nothing. */
  pick(hi: number, lo: number, count: number, out: Int32Array): number {
    this.#ranker.readNumber(hi, lo);
    return this.#pick(count, out);
  }

  /** The same for a text. */
  pickText(key: string, count: number, out: Int32Array): number {
    this.#ranker.readText(key);
    return this.#pick(count, out);
  }

  /** The replicas of a key: zones take turns, in each zone the machines in rank order. For people; allocates. */
  place(key: Key, replicas: number): Leaf[] {
    wholeNumber(replicas, 'The number of replicas', { min: 1, max: replicasMax });
    const read = readKey(key);
    const out = new Int32Array(replicas);
    const size =
      typeof read === 'string'
        ? this.pickText(read, replicas, out)
        : this.pick(read.hi, read.lo, replicas, out);
    return Array.from(out.subarray(0, size), (number) => this.leaf(number));
  }

  /** The disk and slot that a leaf number stands for. */
  leaf(number: number): Leaf {
    const { coordinates, serving } = this.#at(number);
    return {
      path: this.pool.target(serving).path,
      slot: slotDigits(this.pool.topology.slots, (number % this.stripeCount) % this.#slotCount),
      coordinates,
    };
  }

  /** The target that serves a leaf, as an index into `names`. */
  target(number: number): number {
    return this.pool.targetIndex(this.#at(number).serving);
  }

  #at(number: number): { coordinates: Leaf['coordinates']; serving: number } {
    const place = Math.floor(number / this.stripeCount);
    const machine = place % this.#machineCount;
    const zone = Math.floor(place / this.#machineCount);
    const disk = Math.floor((number % this.stripeCount) / this.#slotCount);
    const serving = this.zones[zone]?.machines[machine]?.children[disk]?.serving ?? -1;
    if (serving < 0) throw new PlacementError('bad_input', `There is no leaf ${number}.`);
    return { coordinates: [zone, machine, disk], serving };
  }

  #pick(count: number, out: Int32Array): number {
    checkCount(count);
    this.#handOut(count);
    for (let zone = 0; zone < this.zones.length; zone++) this.#walk(zone);
    this.#sortZones();
    let size = 0;
    for (let round = 0, more = true; more; round++) {
      more = false;
      for (let i = 0; i < this.#order.length; i++) {
        const zone = this.#order[i] as number;
        const found = this.#foundCount[zone] as number;
        if (round < found) out[size++] = this.#found[zone * this.#machineCount + round] as number;
        if (round + 1 < found) more = true;
      }
    }
    return size;
  }

  /** Replicas per zone: equal shares cost nothing, else zones are ranked for the remainder. */
  #handOut(count: number): void {
    const zones = this.zones.length;
    this.#share.fill(Math.floor(count / zones));
    const rest = count % zones;
    if (rest === 0) return;
    this.#ranker.highest(0, zones, rest);
    for (let i = 0; i < rest; i++) {
      const zone = this.#ranker.order[i] as number;
      this.#share[zone] = (this.#share[zone] as number) + 1;
    }
  }

  /** One zone's leaves: the stripe, then the best machines that serve it. */
  #walk(zone: number): void {
    const share = this.#share[zone] as number;
    this.#foundCount[zone] = 0;
    this.#firstScore[zone] = -1;
    if (share === 0) return;
    const stripe = this.#stripe(zone);
    const disk = Math.floor(stripe / this.#slotCount);
    const disks = this.stripeCount / this.#slotCount;
    const start = this.#machineStart[zone] as number;
    const machines = (this.zones[zone] as Zone).machines.length;
    for (let asked = Math.min(share, machines); ; asked = machines) {
      this.#ranker.highest(start, machines, asked);
      let found = 0;
      for (let i = 0; i < asked && found < share; i++) {
        const place = zone * this.#machineCount + (this.#ranker.order[i] as number) - start;
        if (this.#served[place * disks + disk] === 0) continue;
        this.#found[zone * this.#machineCount + found] = place * this.stripeCount + stripe;
        found++;
      }
      this.#foundCount[zone] = found;
      this.#firstScore[zone] = this.#ranker.score(0);
      // A slot without a server is rare: only then are all machines put in order.
      if (found === Math.min(share, machines) || asked === machines) return;
    }
  }

  /** The stripe of the key in a zone: round by round, or from the bits of one hash (V2). */
  #stripe(zone: number): number {
    let start = this.#zoneStart[zone] as number;
    if (this.stripeFanOuts.length === 0) {
      this.#ranker.highest(start, 1, 1);
      return scale(this.#ranker.score(0), this.stripeCount);
    }
    let index = 0;
    let product = 1;
    for (const fanOut of this.stripeFanOuts) {
      this.#ranker.highest(start, fanOut, 1);
      index = index * fanOut + (this.#ranker.order[0] as number) - start;
      product *= fanOut;
      start += fanOut;
    }
    return Math.floor((index * this.stripeCount) / product);
  }

  /** Zones in the order of their first machine's score, as in W3 of walk.ts. */
  #sortZones(): void {
    for (let zone = 0; zone < this.#order.length; zone++) {
      let at = zone;
      while (at > 0 && this.#scoreAt(at - 1) < (this.#firstScore[zone] as number)) {
        this.#order[at] = this.#order[at - 1] as number;
        at--;
      }
      this.#order[at] = zone;
    }
  }

  #scoreAt(place: number): number {
    return this.#firstScore[this.#order[place] as number] as number;
  }
}

/** Throws unless the value is a virtual tree. */
export function checkTree(value: unknown): asserts value is VirtualTree {
  if (value instanceof VirtualTree) return;
  throw new PlacementError(
    'bad_input',
    `A virtual tree as tableOf(topology, table, options) makes is needed, not ${show(value)}.`,
  );
}

/** The pool as zones of machines of disks: every level above the machines counts as zone. */
function zonesOf(pool: Pool): Zone[] {
  const above = pool.topology.levels.length - 2;
  if (above < 0) {
    throw new PlacementError(
      'bad_input',
      'A virtual tree needs a pool with at least two levels: machines and disks.',
    );
  }
  let zones: Zone[] = [{ seed: 0, machines: pool.vertices }];
  for (let depth = 0; depth < above; depth++) {
    zones = zones.flatMap(({ machines }) =>
      machines.map((vertex) => ({ seed: pool.seed(vertex.owner), machines: vertex.children })),
    );
  }
  return zones;
}

function longest(lists: readonly (readonly unknown[])[]): number {
  return lists.reduce((max, { length }) => Math.max(max, length), 0);
}

function readFanOuts(
  fanOuts: readonly number[] | undefined,
  machines: number,
  stripes: number,
): readonly number[] {
  if (fanOuts === undefined) return [];
  for (const fanOut of list(fanOuts, '"fanOuts"'))
    wholeNumber(fanOut, 'A fan-out', { min: 1, max: 65_535 });
  const product = fanOuts.slice(0, -1).reduce((total, fanOut) => total * fanOut, 1);
  if (fanOuts.at(-1) === machines && product >= stripes && product <= 2 ** 24) {
    return fanOuts.slice(0, -1);
  }
  throw new PlacementError(
    'bad_input',
    `The fan-outs ${fanOuts.join(' × ')} must end with ${machines} (machines per zone) and multiply to ${stripes} (stripes) up to 2²⁴ before that.`,
  );
}

/** Seeds of every position; stripe vertices have seeds of their own under their zone's. */
function layOutSeeds(pool: Pool, zones: readonly Zone[], stripeFanOuts: readonly number[]) {
  const seeds = zones.map(({ seed }) => seed);
  const zoneStart: number[] = [];
  const machineStart: number[] = [];
  for (const { seed, machines } of zones) {
    zoneStart.push(seeds.length);
    seeds.push(...stripeSeeds(seed, stripeFanOuts).flat());
    machineStart.push(seeds.length);
    for (const machine of machines) seeds.push(pool.seed(machine.owner));
  }
  return { seeds, zoneStart, machineStart };
}

/** The seeds of the stripe rounds of a zone, round by round; with stripe bits one round with one seed. */
export function stripeSeeds(zoneSeed: number, fanOuts: readonly number[]): number[][] {
  if (fanOuts.length === 0) return [[hashText('stripe', zoneSeed)]];
  return fanOuts.map((fanOut, level) => {
    const taken = new Set<number>();
    return Array.from({ length: fanOut }, (_, i) =>
      raiseUntilFree(hashText(`stripe/${level}/${i}`, zoneSeed), taken),
    );
  });
}

function readServed(zones: readonly Zone[], machineCount: number, disks: number): Uint8Array {
  const served = new Uint8Array(zones.length * machineCount * disks);
  for (const [zone, { machines }] of zones.entries()) {
    for (const [machine, { children }] of machines.entries()) {
      for (const [disk, { serving }] of children.entries()) {
        served[(zone * machineCount + machine) * disks + disk] = serving < 0 ? 0 : 1;
      }
    }
  }
  return served;
}
