/** The shape of an examination of the cluster. */
import { type Static, Type } from 'typebox';

export const DoctorSchema = Type.Object({
  at: Type.String({ format: 'date-time' }),
  verdict: Type.Enum(['well', 'look', 'wrong'], { description: 'The gravest finding.' }),
  findings: Type.Array(
    Type.Object({
      id: Type.String({ description: 'Stable, for programs: clock-off, disk-nearly-full …' }),
      weight: Type.Enum(['wrong', 'look', 'note']),
      member: Type.Union([Type.String(), Type.Null()], {
        description: 'null: the whole cluster.',
      }),
      says: Type.String(),
      do: Type.String({ description: 'Advice.' }),
      receiver: Type.Optional(
        Type.String({ description: 'Origin of the receiver that it is about.' }),
      ),
    }),
    { description: 'Gravest first.' },
  ),
  members: Type.Array(Type.Object({ name: Type.String(), release: Type.String() }), {
    description: 'Facts that each member tells of itself; more of them in later releases.',
  }),
  missing: Type.Array(Type.String(), { description: 'Members that did not answer.' }),
});

export type DoctorJson = Static<typeof DoctorSchema>;
