/** The operations on dead letters. */
import { done, id, json, notFound, paging, query, ref } from './parts.ts';

const letterFilters = [
  query('tag', { type: 'string' }, 'Only letters of timers with this tag.'),
  query(
    'receiver',
    { type: 'string' },
    'Only letters for this receiver: the origin of the callback, or with whole first segments of its path.',
  ),
  query(
    'failure',
    { type: 'string' },
    'Only letters whose newest attempt failed like this: a class (3xx, 4xx, 5xx), a word such as refused, or an HTTP status.',
  ),
];

export const deadLetterPaths = {
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
};
