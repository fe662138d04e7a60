/** The OpenAPI 3.1 description of the API; shapes come from `schema.ts`. */
import {
  AttemptsSchema,
  BatchItemSchema,
  BatchOutcomeSchema,
  ClusterSchema,
  DeadLetterPageSchema,
  DeadLetterSchema,
  EndedProblemSchema,
  LetterSummarySchema,
  LocksSchema,
  ProblemSchema,
  TimerBodySchema,
  TimerPageSchema,
  TimerSchema,
  listedStates,
  WhoamiSchema,
} from './schema.ts';
import { exampleAnswer, exampleProblem, exampleTimer } from './openapi-examples.ts';
import { PreviewSchema } from './preview.ts';
import type { Route } from './router.ts';

const schemas = {
  TimerBody: TimerBodySchema,
  Timer: TimerSchema,
  TimerPage: TimerPageSchema,
  Attempts: AttemptsSchema,
  BatchItem: BatchItemSchema,
  BatchOutcome: BatchOutcomeSchema,
  DeadLetter: DeadLetterSchema,
  DeadLetterPage: DeadLetterPageSchema,
  EndedProblem: EndedProblemSchema,
  LetterSummary: LetterSummarySchema,
  Cluster: ClusterSchema,
  Locks: LocksSchema,
  Whoami: WhoamiSchema,
  Preview: PreviewSchema,
  Problem: ProblemSchema,
};

const ref = (name: keyof typeof schemas) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: object) => ({ 'application/json': { schema } });

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: ref('Problem'), example: exampleProblem } },
});

const shownTimer = { 'application/json': { schema: ref('Timer'), example: exampleAnswer } };
const text = { description: 'OK', content: { 'text/plain': { schema: { type: 'string' } } } };

const refusals = {
  '400': problem('The body is not a timer; the pointer names the offending member.'),
  '413': problem('The body is too large.'),
  '429': problem('The member holds as many timers as it may. Retry-After tells when to come back.'),
  '503': problem(
    'No replica confirmed, or the member is busy. Retry-After tells when to come back.',
  ),
  '507': problem('The disk is full.'),
};
const notFound = { '404': problem('There is nothing with this id.') };

const versionPattern = '^[0-9]{1,16}\\.[0-9]{1,10}$';
const versionHeader = {
  'Carillon-Version': {
    description: 'The version of the change: higher ones win over it, lower ones do not.',
    schema: { type: 'string', pattern: versionPattern },
  },
};
const headers = {
  Location: { description: '/timers/<id>', schema: { type: 'string' } },
  'Carillon-Copies': { description: 'have/wanted', schema: { type: 'string' } },
  ...versionHeader,
  'Carillon-Warning': {
    description:
      'A member of the body that no timer has, and the nearest right name. May be there several times.',
    schema: { type: 'string' },
  },
};
const confirmed = (description: string) => ({
  '200': { description, headers, content: shownTimer },
});

const query = (name: string, schema: object, description: string) => ({
  name,
  in: 'query',
  schema,
  description,
});
const paging = [
  query(
    'limit',
    { type: 'integer', minimum: 1 },
    'Items in the page, at most: large ones are fewer. There are more as long as there is a cursor.',
  ),
  query('cursor', { type: 'string' }, 'As an earlier page gave it out.'),
];
const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
const body = {
  required: true,
  content: { 'application/json': { schema: ref('TimerBody'), example: exampleTimer } },
};

const timerPaths = {
  '/timers': {
    post: {
      operationId: 'setTimer',
      summary: 'Set a timer',
      parameters: [
        { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 } },
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
        query('state', { enum: listedStates }, 'Only timers in this state.'),
        query('member', { type: 'string' }, 'Only timers that this member holds.'),
        query('role', { enum: ['primary', 'backup'] }, 'As what; beside member.'),
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
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { type: 'array', items: ref('BatchItem') },
            example: [exampleTimer, { change: 'set', key: 'order 17', timer: exampleTimer }],
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

const attemptPaths = {
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
const askedPaths = {
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

const done = { '200': { description: 'Done', headers: versionHeader }, ...notFound };

const letterFilters = [
  query('tag', { type: 'string' }, 'Only letters of timers with this tag.'),
  query(
    'receiver',
    { type: 'string' },
    'Only letters for this receiver: the origin of the callback, or with the beginning of its path.',
  ),
  query(
    'failure',
    { type: 'string' },
    'Only letters whose newest attempt failed like this: a class, or an HTTP status.',
  ),
];

const operatingPaths = {
  '/dead-letters': {
    get: {
      operationId: 'listDeadLetters',
      summary: 'List pops that were given up',
      parameters: [...letterFilters, ...paging],
      responses: { '200': { description: 'A page', content: json(ref('DeadLetterPage')) } },
    },
    delete: {
      operationId: 'discardDeadLetters',
      summary: 'Remove many dead letters; again while the answer says that there are more',
      parameters: [
        { name: 'all', in: 'query', required: true, schema: { type: 'string', enum: ['true'] } },
        ...letterFilters,
      ],
      responses: { '200': { description: 'How many, and whether there are more' } },
    },
  },
  '/dead-letters/summary': {
    get: {
      operationId: 'summarizeDeadLetters',
      summary: 'Count dead letters by receiver and failure',
      parameters: letterFilters,
      responses: { '200': { description: 'The counts', content: json(ref('LetterSummary')) } },
    },
  },
  '/dead-letters/{id}': {
    parameters: [id],
    get: {
      operationId: 'getDeadLetter',
      summary: 'Read a dead letter',
      responses: {
        '200': { description: 'The dead letter', content: json(ref('DeadLetter')) },
        ...notFound,
      },
    },
    delete: { operationId: 'discardDeadLetter', summary: 'Remove a dead letter', responses: done },
  },
  '/dead-letters/{id}/redeliver': {
    parameters: [id],
    post: {
      operationId: 'redeliverDeadLetter',
      summary: 'Send a dead letter again',
      responses: done,
    },
  },
  '/ping': { get: { operationId: 'ping', summary: 'Answers OK', responses: { '200': text } } },
  '/healthz': {
    get: { operationId: 'getHealth', summary: 'The member is alive', responses: { '200': text } },
  },
  '/livez': {
    get: { operationId: 'getLiveness', summary: 'The member is alive', responses: { '200': text } },
  },
  '/readyz': {
    get: {
      operationId: 'getReadiness',
      summary: 'The member takes requests',
      responses: { '200': text, '503': problem('Not now; the detail says why.') },
    },
  },
  '/whoami': {
    get: {
      operationId: 'whoami',
      summary: 'What the token of this request allows',
      responses: { '200': { description: 'Scope and namespace', content: json(ref('Whoami')) } },
    },
  },
  '/metrics': {
    get: { operationId: 'getMetrics', summary: 'Prometheus text', responses: { '200': text } },
  },
  '/openapi.json': {
    get: {
      operationId: 'getOpenApi',
      summary: 'This document',
      responses: { '200': { description: 'OpenAPI 3.1', content: json({ type: 'object' }) } },
    },
  },
  '/cluster': {
    get: {
      operationId: 'getCluster',
      summary: 'View, members, resync and repair',
      responses: { '200': { description: 'The cluster', content: json(ref('Cluster')) } },
    },
  },
  '/locks': {
    get: {
      operationId: 'listLocks',
      summary: 'Lock rings in etcd: members, holders, waiters and tokens',
      responses: { '200': { description: 'The rings', content: json(ref('Locks')) } },
    },
  },
  '/cluster/drain': {
    post: {
      operationId: 'drainMember',
      summary: 'Make this member hand everything off and leave',
      responses: { '202': { description: 'Begun; /cluster shows the progress.' } },
    },
  },
  '/cluster/resync': {
    post: {
      operationId: 'resyncMember',
      summary:
        'Make this member look at every record anew and move records that are not where they belong',
      responses: { '202': { description: 'Begun; /cluster shows the progress.' } },
    },
  },
};

const namespaceHeader = {
  name: 'Carillon-Namespace',
  in: 'header',
  schema: { type: 'string', pattern: '^[a-z0-9][a-z0-9._-]{0,63}$', default: 'default' },
  description: 'The namespace of the request; a token that is bound to one needs no word.',
};

const seenHeader = {
  name: 'Carillon-Seen',
  in: 'header',
  schema: { type: 'string', pattern: versionPattern },
  description:
    'The highest version the client has seen: this change gets a higher one. At most a day ahead of the clock of the member, else 400.',
};

interface Operation {
  readonly parameters?: readonly object[];
  readonly responses: Readonly<Record<string, object>>;
}

/** Adds to an operation the scope that its route needs, and the answers to callers with less. */
function guarded(operation: Operation, needs: Route['needs']): object {
  if (needs === null) return { ...operation, security: [] };
  const common = needs === 'write' ? [namespaceHeader, seenHeader] : [namespaceHeader];
  return {
    ...operation,
    security: [{ token: [needs] }],
    parameters: [...(operation.parameters ?? []), ...common],
    responses: {
      ...operation.responses,
      ...(needs === 'write' && {
        '400': operation.responses['400'] ?? problem('A header is not valid.'),
      }),
      '401': problem('There is no token, or it is not valid.'),
      '403': problem(`The token does not have the scope "${needs}", or is for another namespace.`),
      '429': operation.responses['429'] ?? problem('Too many requests of this caller.'),
    },
  };
}

function pathsOf(routes: readonly Route[]): object {
  const needs = new Map(routes.map((route) => [`${route.method} ${route.path}`, route.needs]));
  const all: Record<string, object> = {
    ...timerPaths,
    ...attemptPaths,
    ...askedPaths,
    ...operatingPaths,
  };
  return Object.fromEntries(
    Object.entries(all).map(([path, item]) => {
      const routePath = path.replace('{id}', ':id');
      const operations = Object.entries(item).map(([verb, operation]: [string, unknown]) => {
        const scope = needs.get(`${verb.toUpperCase()} ${routePath}`);
        return [verb, scope === undefined ? operation : guarded(operation as Operation, scope)];
      });
      return [path, Object.fromEntries(operations)];
    }),
  );
}

/** `routes` tell which scope each operation needs. */
export function openApi(version: string, routes: readonly Route[]): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Carillon',
      version,
      description: 'Clustered timers: HTTP in, HTTP callbacks out.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [
      { url: '/', description: 'The member that gave this document; any other will do too.' },
    ],
    paths: pathsOf(routes),
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token made by `carillon token create`. Its scope is read, write or admin, each including the ones before. A member without tokens asks for none.',
        },
      },
    },
  };
}
