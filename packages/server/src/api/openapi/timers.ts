/** The operations on timers. */
import { listedStates } from '../schema/timer.ts';
import { exampleTimer } from './examples.ts';
import {
  body,
  confirmed,
  headers,
  id,
  json,
  notFound,
  paging,
  problem,
  query,
  ref,
  refusals,
  shownTimer,
  traceHeader,
  versionHeader,
} from './parts.ts';

const instant = { type: 'string', format: 'date-time' } as const;

export const timerPaths = {
  '/timers': {
    post: {
      operationId: 'setTimer',
      summary: 'Set a timer',
      parameters: [
        { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } },
        traceHeader,
      ],
      requestBody: body,
      responses: {
        ...confirmed('Set. The body is empty unless JSON is accepted.'),
        ...refusals,
        '422': problem('The idempotency key was used with another body.'),
      },
    },
    get: {
      operationId: 'listTimers',
      summary: 'List timers of the whole cluster',
      parameters: [
        query('tag', { type: 'string' }, 'Only timers with this tag.'),
        query('tag-prefix', { type: 'string' }, 'Only timers with a tag that begins like this.'),
        query(
          'receiver',
          { type: 'string' },
          'Only timers that call this origin, such as http://a.example:8080, or with whole first segments of a path.',
        ),
        query(
          'failure',
          { type: 'string' },
          'Only timers whose newest attempt failed like this: a class (3xx, 4xx, 5xx), a word such as refused, or an HTTP status.',
        ),
        query(
          'state',
          { enum: listedStates },
          'Only timers in this state; failing: pending, although the newest pop was given up.',
        ),
        query('order', { enum: ['due'] }, 'By the time of the next attempt, soonest first.'),
        query('from', instant, 'Only timers whose next attempt is then or later; ordered by due.'),
        query('to', instant, 'Only timers whose next attempt is before; ordered by due.'),
        query('total', { type: 'boolean' }, 'How many timers match in all, in the member total.'),
        query(
          'member',
          { type: 'string' },
          'Only timers that this member holds; of a name that no member has there are none.',
        ),
        query(
          'role',
          { enum: ['primary', 'backup'] },
          'Beside member: only timers of which it is the primary, or a backup.',
        ),
        ...paging,
      ],
      responses: {
        '200': { description: 'A page', content: json(ref('TimerPage')) },
        '400': problem('A parameter is not valid.'),
      },
    },
    delete: {
      operationId: 'cancelTimersByTag',
      summary: 'Cancel all timers with a tag',
      parameters: [{ ...query('tag', { type: 'string' }, 'The tag.'), required: true }],
      responses: {
        '200': {
          description: 'How many were cancelled',
          headers: versionHeader,
          content: json({ type: 'object', properties: { cancelled: { type: 'integer' } } }),
        },
        '400': problem('The tag is missing.'),
      },
    },
  },
  '/timers/batch': {
    post: {
      operationId: 'changeManyTimers',
      summary: 'Set, replace and cancel many timers',
      parameters: [traceHeader],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { type: 'array', items: ref('BatchItem') },
            example: [exampleTimer, { ...exampleTimer, 'idempotency-key': 'order 17' }],
          },
          'application/x-ndjson': { schema: ref('BatchItem') },
        },
      },
      responses: {
        '200': {
          description: 'One outcome per item, in order.',
          content: {
            ...json({ type: 'array', items: ref('BatchOutcome') }),
            'application/x-ndjson': { schema: ref('BatchOutcome') },
          },
        },
        ...refusals,
      },
    },
  },
  '/timers/{id}': {
    parameters: [id],
    get: {
      operationId: 'getTimer',
      summary: 'Read a timer',
      responses: {
        '200': { description: 'The timer', content: shownTimer },
        '404': {
          description: 'There is no such timer now; if its end is remembered, how it ended.',
          content: { 'application/problem+json': { schema: ref('EndedProblem') } },
        },
      },
    },
    put: {
      operationId: 'replaceTimer',
      summary: 'Replace a timer, or create it under a number of your own',
      parameters: [traceHeader],
      requestBody: body,
      responses: {
        ...confirmed('Replaced. Location has the refreshed id.'),
        ...refusals,
        ...notFound,
      },
    },
    delete: {
      operationId: 'cancelTimer',
      summary: 'Cancel a timer',
      responses: {
        '200': { description: 'Cancelled, whether or not it existed.', headers },
        ...notFound,
        '503': refusals['503'],
      },
    },
  },
};

export const attemptPaths = {
  '/timers/{id}/attempts': {
    parameters: [id],
    get: {
      operationId: 'listAttempts',
      summary: 'How the newest callbacks of a timer went',
      description:
        'Members remember them in memory, of so many timers (history.timerCountMax); also of timers that have ended meanwhile.',
      responses: {
        '200': { description: 'Oldest first', content: json(ref('Attempts')) },
        ...notFound,
      },
    },
  },
};

const timingBody = {
  type: 'object',
  description: 'A timer, or its timing alone.',
  required: ['timing'],
};

/** A look ahead, and the callback of a timer at once. */
export const askedPaths = {
  '/timers/preview': {
    post: {
      operationId: 'previewTimer',
      summary: 'The next five pops of a timer if it were set now',
      description: 'Nothing is stored. A fault of the timer is told as it would be if it were set.',
      parameters: [
        query(
          'timezone',
          { type: 'string' },
          'Zone of the local times; that of the timing without.',
        ),
      ],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: timingBody,
            example: { timing: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', forever: true } },
          },
        },
      },
      responses: {
        '200': { description: 'The pops', content: json(ref('Preview')) },
        '400': refusals['400'],
        '413': refusals['413'],
      },
    },
  },
  '/timers/{id}/run': {
    parameters: [id],
    post: {
      operationId: 'runTimer',
      summary: 'Make the callback of a timer now',
      description:
        'By a new timer with the same callback that pops once, at once; the answer has its id. The timer itself is not touched.',
      parameters: [
        { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } },
        traceHeader,
      ],
      responses: {
        ...confirmed('Set. The body is empty unless JSON is accepted.'),
        ...refusals,
        ...notFound,
        '422': problem('The idempotency key was used with another body.'),
      },
    },
  },
};
