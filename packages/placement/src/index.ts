/** Where a key lives: the public surface of this package. */
export { type Bloom, bloomBits, bloomHas, bloomUnion, emptyBloom } from './bloom.ts';
export { PlacementError, type PlacementErrorCode } from './errors.ts';
export { compareNames, type Hash, hashNumber, hashText, murmur3 } from './hash.ts';
export { type Key, keyLengthMax, type NumberKey } from './key.ts';
export { logOfHash } from './logarithm.ts';
export {
  algorithm,
  compileTargets,
  type Picks,
  type Placer,
  type Ranked,
  type Roles,
  Targets,
  type TargetSpec,
  type TargetsOptions,
  targetsMax,
} from './rendezvous.ts';
