/** For the simulator and the tests of whole members: the parts that `createMember` puts together. Not a public surface. */
export type { ApiRequest, ApiResponse } from './api/message.ts';
export { Compare } from './cluster/compare.ts';
export { EtcdSource } from './cluster/etcd.ts';
export { HandOff } from './cluster/hand-off.ts';
export { Missed } from './cluster/missed.ts';
export type { ViewSource } from './cluster/source.ts';
export { type Phase, View, type ViewMember, type ViewSpec } from './cluster/view.ts';
export { type Config, configOf, defaultConfig } from './config.ts';
export { DiskCare } from './disk-care.ts';
export { Member, type MemberOptions } from './member.ts';
export { Popper } from './pop/popper.ts';
export { Peers } from './replication/peers.ts';
export { Replica } from './replication/replica.ts';
export { turnOf } from './replication/schedule.ts';
export { Journal } from './store/journal.ts';
export { insides, type PopperInside, type ReplicaInside } from './testing/insides.ts';
