/**
 * How wide a pool is, from how many machines a zone contributes (partitions) and how many replicas a key has: each of Z
 * zones contributes P machines and each machine R / Z disks, so that a pool of P × R slots has room for R replicas on
 * different machines in every zone.
 *
 * The number of zones is part of the shape. A zone that comes later is used beside the others with the same width, and
 * the pool grows; with the pool kept at its old size every machine would contribute fewer disks, and with them almost
 * every key would move. `refuseReshaping` says so.
 */
import { PlacementError } from '../errors.ts';
import { health } from '../health.ts';
import { wholeNumber } from '../input.ts';
import type { CheckedPolicy } from '../policy.ts';
import { replicasMax } from '../policy.ts';
import type { Topology, Vertex } from '../topology.ts';

export interface PoolSize {
  /** Machines that each zone contributes: the level above the last. */
  readonly partitions: number;
  /** Replicas of a key. */
  readonly replicas: number;
  /** The zones that the pool was made for; default: all, where none is planned or comes with an expansion. */
  readonly zones?: number;
}

/**
 * The width per level. The topology is the one that was asked, not an account's view of it, so that all accounts have
 * pools of one shape. Throws PlacementError where the replicas do not divide over the zones.
 */
export function widthOf(
  topology: Topology,
  { pin }: CheckedPolicy,
  size: PoolSize,
): Readonly<Record<string, number>> {
  const { levels } = topology;
  const machine = levels.at(-2);
  const disk = levels.at(-1);
  if (machine === undefined || disk === undefined) {
    throw new PlacementError(
      'bad_input',
      'A pool by partitions needs two levels: machines and disks.',
    );
  }
  wholeNumber(size.partitions, '"partitions"', { min: 1, max: 65_535 });
  wholeNumber(size.replicas, '"replicas"', { min: 1, max: replicasMax });
  const zones = size.zones ?? countZones(topology, pin);
  wholeNumber(zones, '"zones"', { min: 1, max: replicasMax });
  if (size.replicas % zones !== 0) {
    throw new PlacementError(
      'bad_input',
      `${size.replicas} replicas do not divide over ${zones} zones; give the "width" of each level instead.`,
    );
  }
  return { [machine]: size.partitions, [disk]: size.replicas / zones };
}

/**
 * The domains right above the machines. Refused while some of them are planned or come with an expansion: the number,
 * and with it the shape of the pool, would change on the day they are used, or from account to account.
 */
function countZones(topology: Topology, pin: CheckedPolicy['pin']): number {
  const states = health(topology);
  const above = topology.levels.length - 3;
  const later: string[] = [];
  const count = (vertices: readonly Vertex[], isLater: boolean): number =>
    vertices
      .filter(({ depth, id }) => pin[depth] === null || pin[depth] === id)
      .map((vertex) => {
        const comesLater =
          isLater || vertex.expansion !== null || states.get(vertex)?.state === 'planned';
        if (vertex.depth < above) return count(vertex.children, comesLater);
        if (comesLater) later.push(vertex.path);
        return comesLater ? 0 : 1;
      })
      .reduce((sum, zones) => sum + zones, 0);
  const zones = above < 0 ? 1 : count(topology.children, false);
  if (later.length === 0) return zones;
  throw new PlacementError(
    'bad_input',
    `The pool must say for how many zones it was made, "zones": ${zones} without ${listed(later)}, planned or of an expansion. ` +
      'Counted by itself, that number would change when they come, and almost every key would move.',
  );
}

function listed(paths: readonly string[]): string {
  const named = paths.slice(0, 3).map((path) => `"${path}"`);
  return paths.length > 3 ? `${named.join(', ')} and ${paths.length - 3} more` : named.join(', ');
}

/** Throws PlacementError where a pool changes its width: almost every key would move. */
export function refuseReshaping(
  levels: readonly string[],
  before: readonly number[],
  after: readonly number[],
): void {
  const at = before.findIndex((width, depth) => width !== after[depth]);
  if (at < 0) return;
  const text = (width: number | undefined) =>
    width === undefined || width === Number.POSITIVE_INFINITY ? 'all' : String(width);
  throw new PlacementError(
    'pool_reshaped',
    `The pool takes ${text(before[at])} of each "${levels[at]}" before and ${text(after[at])} after, which moves almost every key. ` +
      'Keep the width (or "zones" at the number the pool was made for): the pool grows by the new zone, and only keys that go there move.',
  );
}
