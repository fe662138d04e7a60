/** The JSON shapes of dead letters. */
import { type Static, Type } from 'typebox';
import { FailureSchema, OutcomeSchema, instant, pageMembers } from './common.ts';
import { CallbackSchema, TagsSchema } from './timer.ts';

/** A pop that was given up, with all that is needed to send it again. */
export const DeadLetterSchema = Type.Object({
  id: Type.String(),
  timer: Type.String({ description: 'Id of the timer whose pop this was.' }),
  callback: CallbackSchema,
  tags: Type.Optional(TagsSchema),
  sequence: Type.Integer(),
  due: instant('When the pop was due.'),
  missed: Type.Integer(),
  attempts: Type.Integer(),
  reason: Type.String({ description: 'Why the last attempt failed.' }),
  'gave-up': instant('When the pop was given up.'),
  'last-outcome': OutcomeSchema,
  'last-failure': FailureSchema,
  replicas: Type.Array(Type.String()),
});

export type DeadLetterJson = Static<typeof DeadLetterSchema>;

export const DeadLetterPageSchema = Type.Object({
  'dead-letters': Type.Array(DeadLetterSchema),
  ...pageMembers,
});

/** How many dead letters there are, by receiver and failure. */
export const LetterSummarySchema = Type.Object({
  total: Type.Integer(),
  groups: Type.Array(
    Type.Object({
      receiver: Type.String({
        description: 'Origin of the callbacks; empty for further ones, where there are very many.',
      }),
      failure: Type.String({ description: 'Class of the failure, as in last-failure.' }),
      count: Type.Integer(),
      oldest: instant('When the first of them was given up.'),
      newest: instant('When the last of them was given up.'),
    }),
    { description: 'Most letters first.' },
  ),
  missing: Type.Array(Type.String(), {
    description: 'Members that did not answer; letters of theirs may not be counted.',
  }),
});

export type LetterSummaryJson = Static<typeof LetterSummarySchema>;
