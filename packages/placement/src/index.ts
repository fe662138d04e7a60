/** Where a key lives: the public surface of this package. */
export { type Bloom, bloomBits, bloomHas, bloomUnion, emptyBloom } from './flat/bloom.ts';
export { PlacementError, type PlacementErrorCode } from './errors.ts';
export { compareNames, type Hash, hashNumber, hashText, murmur3 } from './flat/hash.ts';
export { type Key, keyLengthMax, type NumberKey } from './flat/key.ts';
export { logOfHash } from './flat/logarithm.ts';
export {
  algorithm,
  checkWeight,
  compileTargets,
  type Picks,
  type Placer,
  type Ranked,
  type Roles,
  Targets,
  type TargetSpec,
  type TargetsOptions,
  targetsMax,
} from './flat/rendezvous.ts';
export { changeVertices, type VertexChange } from './change.ts';
export { type Health, health, type VertexState } from './health.ts';
export { explainMembers } from './labels/explain-members.ts';
export { evenShares, hotFrom, type HotMember, hotMembers, type MemberShare } from './labels/hot.ts';
export { compileLabelled, labelsAlgorithm, placementId } from './labels/labels.ts';
export {
  type Domain,
  groupMembers,
  type LabelledMember,
  labelLevels,
  levelsOf,
} from './labels/members.ts';
export {
  CompiledTopology,
  compileTopology,
  type Placement,
  place,
  type Replica,
} from './place.ts';
export { type Policy, replicasMax } from './policy.ts';
export {
  buildTopology,
  type Expansion,
  levelsMax,
  type SlotLevel,
  type Topology,
  type RegularSpec,
  type TopologySpec,
  type Vertex,
  type VertexSpec,
  type Weights,
} from './topology.ts';
export { type Candidate, type Explanation, explain, type Step } from './explain.ts';
export { type Account, rolloutPoint, seenExpansions, topologyFor } from './accounts.ts';
export {
  type Diff,
  type DiffInput,
  type DomainChange,
  diff,
  diffKeysMax,
  type Flow,
} from './diff.ts';
export { evenLoads, evenMovement, type Part, partsOf } from './even-loads.ts';
export { fingerprint, fingerprintTargets, toSpec } from './fingerprint.ts';
export { type Located, locate, locateIn, type LocateOptions, tableOf } from './pools/locate.ts';
export { changeIn, explainIn, poolUnder } from './pools/either-tree.ts';
export { explainPool } from './pools/explain-pool.ts';
export { explainTable } from './pools/explain-table.ts';
export { diffTables, poolShares, tablePlacer, tableShares } from './pools/table.ts';
export type { PoolSize } from './pools/pool-width.ts';
export { tree } from './regular-tree.ts';
export { verticesMax } from './tree-spec.ts';
export {
  compilePools,
  diffPools,
  Pool,
  PoolSelector,
  type PoolShape,
  type PoolSlot,
  type PoolVertex,
  selectPool,
} from './pools/pool.ts';
export { compileSkeleton, skeletonTargetsMax } from './flat/skeleton.ts';
export { type Leaf, VirtualTree, type VirtualTreeOptions } from './pools/virtual-tree.ts';
export type { Walk } from './walk.ts';
