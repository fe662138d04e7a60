/** The parts that the descriptions of several resources share: schemas, refusals, headers, parameters, examples. */
import { BatchItemSchema, BatchOutcomeSchema } from '../schema/batch.ts';
import { ClusterSchema, LocksSchema, WhoamiSchema } from '../schema/cluster.ts';
import { DoctorSchema } from '../schema/doctor.ts';
import {
  DeadLetterPageSchema,
  DeadLetterSchema,
  LetterSummarySchema,
} from '../schema/dead-letter.ts';
import { AuditSchema, HistorySchema } from '../schema/history.ts';
import { EndedProblemSchema, ProblemSchema } from '../schema/problem.ts';
import { AttemptsSchema, TimerBodySchema, TimerPageSchema, TimerSchema } from '../schema/timer.ts';
import { PreviewSchema } from '../preview.ts';
import { exampleAnswer, exampleProblem, exampleTimer } from './examples.ts';

export const schemas = {
  TimerBody: TimerBodySchema,
  Timer: TimerSchema,
  TimerPage: TimerPageSchema,
  Attempts: AttemptsSchema,
  History: HistorySchema,
  Audit: AuditSchema,
  BatchItem: BatchItemSchema,
  BatchOutcome: BatchOutcomeSchema,
  DeadLetter: DeadLetterSchema,
  DeadLetterPage: DeadLetterPageSchema,
  EndedProblem: EndedProblemSchema,
  LetterSummary: LetterSummarySchema,
  Cluster: ClusterSchema,
  Doctor: DoctorSchema,
  Locks: LocksSchema,
  Whoami: WhoamiSchema,
  Preview: PreviewSchema,
  Problem: ProblemSchema,
};

export const ref = (name: keyof typeof schemas) => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: object) => ({ 'application/json': { schema } });

export const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: ref('Problem'), example: exampleProblem } },
});

export const shownTimer = { 'application/json': { schema: ref('Timer'), example: exampleAnswer } };
export const text = {
  description: 'OK',
  content: { 'text/plain': { schema: { type: 'string' } } },
};

export const refusals = {
  '400': problem('The body is not a timer; the pointer names the offending member.'),
  '413': problem('The body is too large.'),
  '429': problem('The member holds as many timers as it may. Retry-After tells when to come back.'),
  '503': problem(
    'No replica confirmed, or the member is busy. Retry-After tells when to come back.',
  ),
  '507': problem('The disk is full.'),
};
export const notFound = { '404': problem('There is nothing with this id.') };

export const versionPattern = '^[0-9]{1,16}\\.[0-9]{1,10}$';
/** Of a set: its callback goes on with the trace, or points to it. */
export const traceHeader = {
  name: 'traceparent',
  in: 'header',
  schema: { type: 'string' },
  description:
    'The trace that the set belongs to (W3C Trace Context): the callback goes on with it, or points to it. One that is not understood is none.',
};

export const versionHeader = {
  'Carillon-Version': {
    description: 'The version of the change: higher ones win over it, lower ones do not.',
    schema: { type: 'string', pattern: versionPattern },
  },
};
export const headers = {
  Location: { description: '/timers/<id>', schema: { type: 'string' } },
  'Carillon-Copies': { description: 'have/wanted', schema: { type: 'string' } },
  ...versionHeader,
  'Carillon-Warning': {
    description:
      'A member of the body that no timer has, and the nearest right name. May be there several times.',
    schema: { type: 'string' },
  },
};
export const confirmed = (description: string) => ({
  '200': { description, headers, content: shownTimer },
});

export const query = (name: string, schema: object, description: string) => ({
  name,
  in: 'query',
  schema,
  description,
});
export const paging = [
  query(
    'limit',
    { type: 'integer', minimum: 1 },
    'Items in the page, at most: large ones are fewer. There are more as long as there is a cursor.',
  ),
  query('cursor', { type: 'string' }, 'As an earlier page gave it out.'),
];
export const id = { name: 'id', in: 'path', required: true, schema: { type: 'string' } };
export const body = {
  required: true,
  content: { 'application/json': { schema: ref('TimerBody'), example: exampleTimer } },
};

export const done = { '200': { description: 'Done', headers: versionHeader }, ...notFound };
