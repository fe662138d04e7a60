/** The JSON shapes of the items and outcomes of a batch. */
import { Type } from 'typebox';
import { ProblemSchema } from './problem.ts';
import { TimerBodySchema } from './timer.ts';

/** As the header of that name, for one change. */
const traceparent = Type.Optional(
  Type.String({
    description: 'The trace that this change belongs to; default: the one of the request.',
  }),
);

const idOfChange = Type.String({ description: 'Of the timer, as an answer gave it.' });

const key = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'As Idempotency-Key, for this timer alone.',
  }),
);

/** An item of a batch: a timer, which is set, or replaces the one of `id`; a cancel; or a change by its name. */
export const BatchItemSchema = Type.Union([
  Type.Object({
    ...TimerBodySchema.properties,
    id: Type.Optional(Type.String({ description: 'Replaces this timer; absent: sets a new one.' })),
    'idempotency-key': key,
  }),
  Type.Object({ cancel: idOfChange }),
  Type.Object({
    change: Type.Literal('set'),
    timer: TimerBodySchema,
    key,
    traceparent,
  }),
  Type.Object({
    change: Type.Literal('replace'),
    id: idOfChange,
    timer: TimerBodySchema,
    traceparent,
  }),
  Type.Object({ change: Type.Literal('cancel'), id: idOfChange }),
]);

export const BatchOutcomeSchema = Type.Union([
  Type.Object({
    status: Type.Literal(200),
    id: Type.String(),
    copies: Type.String({ description: 'have/wanted' }),
    version: Type.String({ description: 'As in Carillon-Version.' }),
  }),
  Type.Object({
    ...ProblemSchema.properties,
    'retry-after': Type.Optional(
      Type.Integer({ description: 'Seconds, as in the header Retry-After.' }),
    ),
  }),
]);
