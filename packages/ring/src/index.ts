/** Public surface of this package: membership and locks on etcd. */
export {
  LockLostError,
  LockTimeoutError,
  type LossReason,
  MemberTakenError,
  NotLocalError,
  RingClosedError,
  RingConfigError,
  RingFullError,
  RingUsageError,
} from './errors.ts';
export { type Etcd, EtcdError, type EtcdErrorKind } from './etcd/etcd.ts';
export { EtcdClient, type EtcdClientOptions } from './etcd/etcd-client.ts';
export type { Lock } from './locks/lock.ts';
export type { LeaseLoss } from './lease.ts';
export type { LocalMember } from './local-member.ts';
export type { Member, MemberPhase, MemberRecord, MemberView } from './member.ts';
export {
  defaultTtlMs,
  Membership,
  type MembershipEvents,
  type MembershipOptions,
} from './membership.ts';
export {
  crc32,
  type HashFunction,
  murmur3,
  type PlacedMember,
  rendezvous,
  type RingPlacement,
  successor,
} from './placements.ts';
export {
  type LockOptions,
  type MemberOptions,
  Ring,
  type RingEvents,
  type RingMember,
  type RingOptions,
  type RingView,
  type SlotEvent,
} from './ring.ts';
export { reach } from './reach.ts';
export { hasConfig } from './ring-config.ts';
export { type LockStatus, type RingStatus, ringStatus } from './status.ts';
