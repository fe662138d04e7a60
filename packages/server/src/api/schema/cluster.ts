/** The JSON shapes of the cluster, its lock rings, and the permissions of a token. */
import { type Static, Type } from 'typebox';
import { scopes } from '../../access/scope.ts';
import { measured, textOrNull, whole, wholeOrNull } from './common.ts';

export const WhoamiSchema = Type.Object({
  auth: Type.Boolean({ description: 'Whether a token was needed.' }),
  scope: Type.Enum([...scopes]),
  namespace: Type.String({ description: 'The only one the token is for, or * for any.' }),
  name: Type.Union([Type.String(), Type.Null()], { description: 'Of the token.' }),
});

/** Load of one member over the last ten seconds. */
const LoadSchema = Type.Object({
  'pops-per-second': Type.Number(),
  'retried-per-second': Type.Number({ description: 'Failed and tried again.' }),
  'given-up-per-second': Type.Number({ description: 'That became dead letters.' }),
  'lateness-p50-ms': measured,
  'lateness-p99-ms': measured,
  'lag-ms': measured,
});

export const LocksSchema = Type.Object({
  connected: Type.Boolean({ description: 'Whether this member knows an etcd to look into.' }),
  rings: Type.Array(
    Type.Object({
      name: Type.String(),
      problem: textOrNull,
      slots: wholeOrNull,
      'free-slots': wholeOrNull,
      members: Type.Array(
        Type.Object({
          name: Type.String(),
          phase: Type.String(),
          weight: Type.Number(),
          slots: whole,
        }),
      ),
      'lock-count': whole,
      locks: Type.Array(
        Type.Object({
          key: Type.String(),
          holder: textOrNull,
          token: Type.Union([Type.String(), Type.Null()], {
            description: 'A number that grows with every grant; as text, for it can be large.',
          }),
          waiters: Type.Array(Type.String()),
        }),
        { description: 'Locks taken with `durable: true`, such as the ones of `carillon lock`.' },
      ),
    }),
  ),
});

export type LocksJson = Static<typeof LocksSchema>;

const DiskStateSchema = Type.Union(
  [Type.Literal('whole'), Type.Literal('mending'), Type.Literal('mended'), Type.Literal('lost')],
  { description: 'Whether damage was found since the member started, and whether it is mended.' },
);

const DamageSchema = Type.Object({
  state: DiskStateSchema,
  'found-at': Type.String({ format: 'date-time' }),
  stretches: whole,
  'entries-lost': whole,
  'more-lost': Type.Boolean({ description: 'There may be more that cannot be counted.' }),
  'timers-lost': Type.Union([whole, Type.Null()], {
    description:
      'Timers that are gone because no other member had a copy, at most. null: that cannot be told.',
  }),
  'records-fetched': whole,
});

export const ClusterSchema = Type.Object({
  'view-id': Type.String(),
  revision: Type.Integer(),
  source: Type.String(),
  'placement-id': Type.String({ description: 'The rule that places timers on the members.' }),
  'default-factor': Type.Integer({
    minimum: 1,
    description: 'Replicas of a timer whose client names no factor.',
  }),
  hot: Type.Array(Type.String(), {
    description:
      'A sentence for each member that holds more than its weight asks for, because copies are in distinct regions, zones or racks.',
  }),
  members: Type.Array(
    Type.Object({
      name: Type.String(),
      address: Type.String(),
      phase: Type.String(),
      weight: Type.Number(),
      labels: Type.Record(Type.String(), Type.String()),
      self: Type.Boolean(),
      reachable: Type.Boolean(),
      'clock-offset-ms': Type.Union([Type.Number(), Type.Null()]),
      timers: Type.Union([whole, Type.Null()]),
      primaries: Type.Union([whole, Type.Null()]),
      disk: Type.Union([DiskStateSchema, Type.Null()]),
      load: Type.Union([LoadSchema, Type.Null()]),
      'dead-letters': Type.Union([whole, Type.Null()]),
      retrying: Type.Union([whole, Type.Null()]),
      answers: Type.Union([Type.Record(Type.String(), whole), Type.Null()]),
    }),
  ),
  resync: Type.Object({ running: Type.Boolean(), checked: whole, total: whole, moved: whole }),
  repair: Type.Object({ 'unconfirmed-records': whole, 'under-replicated': whole }),
  damage: Type.Union([DamageSchema, Type.Null()]),
});

export type ClusterJson = Static<typeof ClusterSchema>;
