/**
 * For the simulator and the tests of whole members: the parts that `createMember` puts together. Not a public surface.
 */
export type { ApiRequest, ApiResponse } from './http/message.ts';
export { numberingOf } from './access/number-key.ts';
export { Compare } from './cluster/compare.ts';
export { EtcdSource } from './cluster/sources/etcd.ts';
export { HandOff } from './cluster/hand-off.ts';
export { Unconfirmed } from './cluster/unconfirmed.ts';
export { Presence } from './cluster/presence.ts';
export { Rejoining } from './cluster/view/rejoining.ts';
export type { ViewSource } from './cluster/sources/source.ts';
export { Vanished } from './cluster/view/vanished.ts';
export { type Phase, View, type ViewMember, type ViewSpec } from './cluster/view/view.ts';
export { type Config, configOf, defaultConfig } from './config/config.ts';
export { DiskCare } from './cluster/disk/disk-care.ts';
export { Member } from './member.ts';
export type { MemberOptions } from './wiring/options.ts';
export { FrameDelays } from './replication/frame-delays.ts';
export { Peers } from './replication/peers.ts';
export { Replica } from './replication/replica.ts';
export { positionOf } from './timer/schedule.ts';
export { Journal } from './store/journal/journal.ts';
export { RecordChanges } from './request/change.ts';
export { Coordinator } from './request/coordinator.ts';
export { ChangesUnderWay } from './request/under-way.ts';
export { Scrub } from './store/journal/scrub.ts';
export {
  type AttemptsInside,
  type GrantingInside,
  insides,
  type ReplicaInside,
} from './testing/insides.ts';
