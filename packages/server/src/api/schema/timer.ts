/**
 * The JSON shapes of timers and their attempts. Rules that span several members, or need the limits of the member, are
 * in `parse-timer.ts`.
 */
import { factorMax } from '@carillon/core';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { FailureSchema, OutcomeSchema, instant, letterId, pageMembers, seconds } from './common.ts';

const TimingSchema = Type.Object(
  {
    interval: Type.Optional(
      seconds('Seconds between pops and before the first; fractions down to a millisecond.'),
    ),
    'repeat-for': Type.Optional(
      seconds(
        'Seconds during which the timer keeps popping: max(1, floor(repeat-for / interval)) pops.',
      ),
    ),
    at: Type.Optional(Type.String({ description: 'RFC 3339 instant of a single pop.' })),
    cron: Type.Optional(
      Type.String({ maxLength: 256, description: 'Cron pattern of 5 fields, or 6 with seconds.' }),
    ),
    timezone: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'IANA time zone of the cron pattern; UTC without.',
      }),
    ),
    until: Type.Optional(
      Type.String({ description: 'RFC 3339 instant after which nothing pops any more.' }),
    ),
    count: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2 ** 32 - 1, description: 'How many pops.' }),
    ),
    forever: Type.Optional(Type.Boolean({ description: 'The timer has no end, on purpose.' })),
  },
  { description: 'When to pop: exactly one of interval, at and cron.' },
);

const RetrySchema = Type.Object(
  {
    limit: Type.Optional(seconds('Seconds after due during which a failed pop is retried.')),
    base: Type.Optional(
      seconds('Longest wait before the first retry in seconds; doubles each time.'),
    ),
    'max-wait': Type.Optional(seconds('Longest wait between two attempts in seconds.')),
    'max-attempts': Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Attempts in all.' }),
    ),
  },
  { description: 'How a failed pop is retried; absent fields have the defaults of the member.' },
);

const HttpSchema = Type.Object({
  uri: Type.String({ description: 'Absolute http or https URI, without credentials.' }),
  opaque: Type.Optional(
    Type.String({ description: 'Sent to the receiver as the body, byte for byte.' }),
  ),
  method: Type.Optional(Type.String({ description: 'POST unless given.' })),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  timeout: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, description: 'Time limit of one attempt in seconds.' }),
  ),
  batch: Type.Optional(
    Type.Boolean({
      description:
        'Callbacks to the same uri that are due together may come in one POST, as NDJSON with a line for each pop.',
    }),
  ),
  form: Type.Optional(
    Type.Enum(['plain', 'cloudevents'], {
      description:
        'plain unless given; cloudevents: with the headers of a CloudEvent in binary mode, beside the usual ones.',
    }),
  ),
});

const OnFailureSchema = Type.Object(
  { uri: Type.String({ description: 'Absolute http or https URI, without credentials.' }) },
  { description: 'Told of each pop of this timer that becomes a dead letter.' },
);

const TagInfoSchema = Type.Object({
  type: Type.String({ minLength: 1 }),
  count: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
});

const ReliabilitySchema = Type.Object({
  'replication-factor': Type.Optional(Type.Integer({ minimum: 1, maximum: factorMax })),
});

const StatisticsSchema = Type.Object({ 'tag-info': Type.Optional(Type.Array(TagInfoSchema)) });

const GivenStatisticsSchema = Type.Object({
  'tag-info': Type.Optional(
    Type.Array(Type.Unknown(), {
      description:
        'Objects with a type (text) and a count (a whole number, 1 when left out). Other entries are skipped, as in Chronos.',
    }),
  ),
});

export const CallbackSchema = Type.Object({
  http: HttpSchema,
  retry: Type.Optional(RetrySchema),
  'on-failure': Type.Optional(OnFailureSchema),
});

export const TagsSchema = Type.Array(Type.String({ minLength: 1 }));

/** The body that sets or replaces a timer. Unknown members are ignored. */
export const TimerBodySchema = Type.Object({
  timing: TimingSchema,
  callback: CallbackSchema,
  reliability: Type.Optional(ReliabilitySchema),
  statistics: Type.Optional(GivenStatisticsSchema),
  tags: Type.Optional(TagsSchema),
});

export type TimerBody = Static<typeof TimerBodySchema>;
export type TimingBody = TimerBody['timing'];
export type RetryBody = NonNullable<TimerBody['callback']['retry']>;

export const timerBodyValidator = Compile(TimerBodySchema);

/** States that lists can be asked for. */
export const listedStates = ['pending', 'retrying', 'failing', 'dead'] as const;

/** A timer has ended where the request that set it is repeated under its key. */
const timerStates = ['pending', 'retrying', 'dead', 'ended'] as const;

/** A timer as stored, in the form of the body plus its state. */
export const TimerSchema = Type.Object({
  id: Type.String(),
  state: Type.Enum([...timerStates]),
  timing: TimingSchema,
  callback: CallbackSchema,
  reliability: Type.Required(ReliabilitySchema),
  statistics: Type.Optional(StatisticsSchema),
  tags: Type.Optional(TagsSchema),
  set: instant('When the timer was set or last replaced.'),
  sequence: Type.Integer({ minimum: 0, description: 'Pops so far.' }),
  attempt: Type.Integer({ minimum: 0, description: 'Failed attempts of the present pop.' }),
  'next-due': Type.Union([instant('When the next pop is due.'), Type.Null()]),
  'next-attempt': Type.Union([instant('When the next attempt is due.'), Type.Null()]),
  'last-outcome': OutcomeSchema,
  'last-failure': FailureSchema,
  'last-detail': Type.Optional(
    Type.String({
      description:
        "Of a failed attempt: the first bytes of the receiver's answer, or why there was none; absent where no member remembers it.",
    }),
  ),
  version: Type.String(),
  replicas: Type.Array(Type.String(), {
    description: 'Members that hold the timer, primary first.',
  }),
  'dead-letter': Type.Optional(letterId),
  event: Type.Optional(
    Type.String({ description: 'Kind of the event that this timer tells of; no client set it.' }),
  ),
});

export type TimerJson = Static<typeof TimerSchema>;

export const TimerPageSchema = Type.Object({
  timers: Type.Array(TimerSchema),
  ...pageMembers,
  total: Type.Optional(Type.Object({ count: Type.Integer({ minimum: 0 }), exact: Type.Boolean() })),
});

/** The callbacks of one timer that members remember. */
export const AttemptsSchema = Type.Object({
  attempts: Type.Array(
    Type.Object({
      pop: Type.Integer({ description: 'Sequence number of the pop.' }),
      attempt: Type.Integer({ description: 'Which try of this pop, from 1.' }),
      at: Type.String({ description: 'When the callback began.' }),
      'lateness-ms': Type.Number({ description: 'From the due time of the pop until then.' }),
      'took-ms': Type.Number({ description: 'Until the answer, or until it was given up.' }),
      status: Type.Union([Type.Integer(), Type.String()], {
        description: 'HTTP status, or why there was none: refused, timeout and so on.',
      }),
      failure: FailureSchema,
      detail: Type.String({
        description:
          'Of a failure: the first 256 bytes of the answer as one line of text, or why there was none; empty where neither is known.',
      }),
      member: Type.String({ description: 'The member that made it.' }),
    }),
  ),
  missing: Type.Array(Type.String(), {
    description: 'Members that did not answer; attempts of theirs may be missing.',
  }),
});

export type AttemptsJson = Static<typeof AttemptsSchema>;
