/** Refuses other values in the place of a topology that was built, or of a placer that was compiled. */
import { PlacementError } from './errors.ts';
import type { Placer } from './flat/rendezvous.ts';
import { show } from './input.ts';
import type { Topology } from './topology.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Throws unless the value is a topology as `buildTopology` makes it. */
export function checkTopology(value: unknown): asserts value is Topology {
  const given = fieldsOf(value);
  if (Array.isArray(given['targets']) && Array.isArray(given['levels'])) return;
  const isPlain = 'children' in given || 'levels' in given || 'tree' in given;
  throw new PlacementError(
    'bad_input',
    isPlain
      ? 'The topology is in its plain form, that of JSON and YAML; pass buildTopology(topology) instead.'
      : `The topology must be one that buildTopology or tree makes, not ${show(value)}.`,
  );
}

/** Throws unless the value has the lookups of a placer; `place`: the argument, in words. */
export function checkPlacer(value: unknown, place: string): asserts value is Placer {
  const given = fieldsOf(value);
  const isTree = 'stripeFanOuts' in given;
  const hasLookups = typeof given['pick'] === 'function' && typeof given['pickText'] === 'function';
  if (hasLookups && Array.isArray(given['names']) && !isTree) return;
  throw new PlacementError('bad_input', `${place} must be a placer, ${rightPlacer(given, value)}`);
}

function rightPlacer(given: Fields, value: unknown): string {
  if ('stripeFanOuts' in given) return 'not a virtual tree; pass tablePlacer(tree) instead.';
  if ('targets' in given) {
    return 'not a topology; pass compileTopology(topology, policy) instead.';
  }
  if ('children' in given || 'tree' in given) {
    return 'not the plain form of a topology; pass compileTopology(buildTopology(topology), policy) instead.';
  }
  return `such as compileTargets or compileTopology makes, not ${show(value)}.`;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
