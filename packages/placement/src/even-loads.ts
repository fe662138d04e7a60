/**
 * The loads of a scheme that knows no chance: every target holds exactly the share of its weight, as far as the rule
 * allows that no domain gets a second copy of a key before each domain with room has one.
 */
import { record, wholeNumber } from './input.ts';
import { health } from './health.ts';
import { targetsMax } from './flat/rendezvous.ts';
import type { Topology, Vertex } from './topology.ts';

/** A target, or a domain with the parts below it. */
export interface Part {
  /** Name of a target; empty for a domain. */
  readonly name: string;
  readonly weight: number;
  readonly parts: readonly Part[];
}

/** The share of all keys that each target holds, from 0 to 1, with so many copies of each key. */
export function evenLoads(top: Part, copies: number): Map<string, number> {
  record(top, 'The top part');
  wholeNumber(copies, 'The number of copies', { min: 0, max: targetsMax });
  const loads = new Map<string, number>();
  const whole = Math.min(copies, roomOf(top));
  if (whole > 0) spread(top, whole, loads);
  return loads;
}

/** The live targets of a topology under their domains, with the weights used for ranking. */
export function partsOf(topology: Topology): Part {
  const states = health(topology);
  const last = topology.levels.length - 1;
  const part = (vertex: Vertex): Part => ({
    name: vertex.depth === last ? vertex.path : '',
    weight: vertex.weight,
    parts: vertex.children.filter((child) => (states.get(child)?.live ?? 0) > 0).map(part),
  });
  const live = topology.children.filter((child) => (states.get(child)?.live ?? 0) > 0);
  return { name: '', weight: 1, parts: live.map(part) };
}

/** The least that has to move, in copies of each key, from one set of even loads to another. */
export function evenMovement(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): number {
  let moved = 0;
  for (const [name, load] of after) moved += Math.max(0, load - (before.get(name) ?? 0));
  return moved;
}

function roomOf({ name, parts }: Part): number {
  return name === '' ? parts.reduce((sum, part) => sum + roomOf(part), 0) : 1;
}

/** A part of a copy is a copy of a part of the keys. */
function spread(part: Part, copies: number, loads: Map<string, number>): void {
  if (part.name !== '') {
    loads.set(part.name, copies);
    return;
  }
  const whole = Math.max(1, Math.ceil(copies - 1e-9));
  const held = fill(part.parts, whole);
  for (const [i, inner] of part.parts.entries()) {
    spread(inner, ((held[i] as number) * copies) / whole, loads);
  }
}

/** Copies by weight, but round after round. */
function fill(parts: readonly Part[], copies: number): number[] {
  const rooms = parts.map(roomOf);
  const rounds = roundsOf(rooms, copies);
  const amounts = (times: number) =>
    parts.map(({ weight }, i) => {
      const room = rooms[i] as number;
      return Math.min(room, rounds + 1, Math.max(Math.min(room, rounds), times * weight));
    });
  const total = (times: number) => amounts(times).reduce((sum, one) => sum + one, 0);
  let low = 0;
  let high = 1;
  while (total(high) < copies - 1e-9 && high < 1e12) high *= 2;
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2;
    if (total(middle) < copies) low = middle;
    else high = middle;
  }
  return amounts(high);
}

/** How many rounds reach every part that has room for them. */
function roundsOf(rooms: readonly number[], copies: number): number {
  let rounds = 0;
  const upTo = (count: number) => rooms.reduce((sum, room) => sum + Math.min(room, count), 0);
  while (rounds < copies && upTo(rounds + 1) <= copies) rounds++;
  return rounds;
}
