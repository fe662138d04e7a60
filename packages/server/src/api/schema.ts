/**
 * The JSON shapes of the API, declared once: validation, static types and `/openapi.json` come from here. Rules that
 * span several members, or need the member's limits, are in `parse-timer.ts`.
 */
import { factorMax } from '@carillon/core';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { scopes } from '../access/scope.ts';

/** 100 years. */
export const secondsMax = 100 * 365.25 * 86_400;

const seconds = (description: string) =>
  Type.Number({ minimum: 0, maximum: secondsMax, description });

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
});

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

const CallbackSchema = Type.Object({ http: HttpSchema, retry: Type.Optional(RetrySchema) });

const TagsSchema = Type.Array(Type.String({ minLength: 1 }));

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
export const listedStates = ['pending', 'retrying', 'dead'] as const;

/** A timer has ended where the request that set it is repeated under its key. */
const timerStates = [...listedStates, 'ended'] as const;

const instant = (description: string) => Type.String({ format: 'date-time', description });

const OutcomeSchema = Type.Union([Type.Integer(), Type.String(), Type.Null()], {
  description: 'HTTP status of the newest attempt, or a word such as refused or timeout.',
});

const FailureSchema = Type.Union([Type.String(), Type.Null()], {
  description:
    'Class of the failure of the newest attempt: 3xx, 4xx, 5xx, refused, timeout, unresolvable, tls, forbidden or cut; null: it was a success, or there was none.',
});

const letterId = Type.String({
  description: 'Id of the dead letter of the newest pop, where that was given up.',
});

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
  version: Type.String(),
  replicas: Type.Array(Type.String(), {
    description: 'Members that hold the timer, primary first.',
  }),
  'dead-letter': Type.Optional(letterId),
});

export type TimerJson = Static<typeof TimerSchema>;

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

const pageMembers = {
  cursor: Type.Union([Type.String(), Type.Null()], {
    description: 'Pass it on to get the next page; null: this was the last.',
  }),
  missing: Type.Array(Type.String(), {
    description: 'Members that did not answer; their timers may be missing from the page.',
  }),
};

export const TimerPageSchema = Type.Object({ timers: Type.Array(TimerSchema), ...pageMembers });

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

const idOfChange = Type.String({ description: 'Of the timer, as an answer gave it.' });

/** An item of a batch: the body of a timer, or a change by its name. */
export const BatchItemSchema = Type.Union([
  TimerBodySchema,
  Type.Object({
    change: Type.Literal('set'),
    timer: TimerBodySchema,
    key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description: 'As Idempotency-Key, for this timer alone.',
      }),
    ),
  }),
  Type.Object({ change: Type.Literal('replace'), id: idOfChange, timer: TimerBodySchema }),
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

export const WhoamiSchema = Type.Object({
  auth: Type.Boolean({ description: 'Whether a token was needed.' }),
  scope: Type.Enum([...scopes]),
  namespace: Type.String({ description: 'The only one the token is for, or * for any.' }),
  name: Type.Union([Type.String(), Type.Null()], { description: 'Of the token.' }),
});

const whole = Type.Integer({ minimum: 0 });

const measured = Type.Union([Type.Number(), Type.Null()]);

/** Load of one member over the last ten seconds. */
const LoadSchema = Type.Object({
  'pops-per-second': Type.Number(),
  'lateness-p50-ms': measured,
  'lateness-p99-ms': measured,
  'lag-ms': measured,
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
      member: Type.String({ description: 'Who made it.' }),
    }),
  ),
  missing: Type.Array(Type.String(), {
    description: 'Members that did not answer; attempts of theirs may be missing.',
  }),
});

export type AttemptsJson = Static<typeof AttemptsSchema>;

const textOrNull = Type.Union([Type.String(), Type.Null()]);
const wholeOrNull = Type.Union([whole, Type.Null()]);

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
        { description: 'Locks taken with `durable: true`, as those of `carillon lock`.' },
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
  'records-fetched': whole,
});

export const ClusterSchema = Type.Object({
  'view-id': Type.String(),
  revision: Type.Integer(),
  source: Type.String(),
  'placement-id': Type.String({ description: 'The rule that places timers on the members.' }),
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
    }),
  ),
  resync: Type.Object({ running: Type.Boolean(), checked: whole, total: whole, moved: whole }),
  repair: Type.Object({ 'unconfirmed-records': whole, 'under-replicated': whole }),
  damage: Type.Union([DamageSchema, Type.Null()]),
});

export type ClusterJson = Static<typeof ClusterSchema>;
