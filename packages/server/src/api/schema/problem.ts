/** The JSON shapes of refusals, and of a timer that has ended. */
import { type Static, Type } from 'typebox';
import { instant, letterId } from './common.ts';

export const ProblemSchema = Type.Object({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  pointer: Type.Optional(
    Type.String({ description: 'JSON pointer to the offending member of the body.' }),
  ),
  version: Type.Optional(
    Type.String({ description: 'Of a change that may have been stored all the same.' }),
  ),
});

/** Members of the 404 that tells of a timer which has ended. */
const EndedMembersSchema = Type.Object({
  ended: Type.Enum(['cancelled', 'delivered', 'given-up']),
  'ended-at': instant('When it ended.'),
  pops: Type.Integer({ minimum: 0 }),
  'dead-letter': Type.Optional(letterId),
});

export type EndedJson = Static<typeof EndedMembersSchema>;

export const EndedProblemSchema = Type.Object({
  ...ProblemSchema.properties,
  ...Type.Partial(EndedMembersSchema).properties,
});
