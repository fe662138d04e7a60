/** The JSON shapes of the history and the audit. */
import { type Static, Type } from 'typebox';
import { FailureSchema, instant, pageMembers, textOrNull, wholeOrNull } from './common.ts';

const common = {
  at: instant('When the callback began, or the change was confirmed.'),
  timer: Type.String({ description: 'Number of the timer: its id without replicas and factor.' }),
  namespace: Type.String(),
  member: Type.String({
    description: 'The member that made the attempt, or took the request for the change.',
  }),
};

/** One try to deliver a pop. */
const HistoryAttemptSchema = Type.Object({
  kind: Type.Literal('attempt'),
  ...common,
  pop: Type.Integer({ description: 'The sequence of the pop.' }),
  attempt: Type.Integer({ description: 'Its number among the attempts at this pop, from 1.' }),
  status: Type.Union([Type.Integer(), Type.String()], {
    description: 'HTTP status, or a word such as refused or timeout.',
  }),
  failure: FailureSchema,
  detail: Type.String({
    description:
      'Of a failed attempt: the first bytes of the answer, or why there was none; empty where neither is kept.',
  }),
  'lateness-ms': Type.Number({ description: 'From the due time until the callback began.' }),
  'took-ms': Type.Number(),
  replica: Type.Integer({
    description:
      'The place of the member among the replicas: 0 is the primary, others are backups.',
  }),
});

/** A change of a timer. */
const HistoryChangeSchema = Type.Object({
  kind: Type.Literal('change'),
  ...common,
  action: Type.String({
    description:
      'set, replace, cancel, run; of dead letters redeliver, discard, drop; give-up: a pop became a dead letter; erase: stored answers were erased; drain, resync: an operator asked the member for it.',
  }),
  actor: { ...textOrNull, description: 'Name of the token that asked for it; null: none.' },
  tag: { ...textOrNull, description: 'The tag by which the timer was chosen; null: by its id.' },
  pop: { ...wholeOrNull, description: 'The pop that it is about; null: the timer as a whole.' },
  version: Type.String(),
});

export const HistorySchema = Type.Object({
  entries: Type.Array(Type.Union([HistoryAttemptSchema, HistoryChangeSchema]), {
    description: 'The newest first.',
  }),
  ...pageMembers,
});

export const AuditSchema = Type.Object({
  entries: Type.Array(HistoryChangeSchema, { description: 'The newest first.' }),
  ...pageMembers,
});

export type HistoryEntryJson =
  | Static<typeof HistoryAttemptSchema>
  | Static<typeof HistoryChangeSchema>;
