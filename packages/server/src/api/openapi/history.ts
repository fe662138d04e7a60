/** The operations on the history of attempts and changes. */
import { actions } from '../../history/entry.ts';
import { id, json, notFound, paging, problem, query, ref } from './parts.ts';

const times = [
  query('since', { type: 'string', format: 'date-time' }, 'Only entries from this instant on.'),
  query('until', { type: 'string', format: 'date-time' }, 'Only entries up to this instant.'),
];

export const historyPaths = {
  '/timers/{id}/history': {
    parameters: [id],
    get: {
      operationId: 'getTimerHistory',
      summary: 'Every attempt and change of a timer that members remember, also after its end',
      parameters: [...times, ...paging],
      responses: {
        '200': { description: 'A page', content: json(ref('History')) },
        '400': problem('A parameter is not valid.'),
        ...notFound,
      },
    },
  },
  '/audit': {
    get: {
      operationId: 'getAudit',
      summary: 'Changes of timers, with the names of the tokens that asked for them',
      parameters: [
        ...times,
        query('actor', { type: 'string' }, 'Only changes by the token of this name.'),
        query('action', { enum: actions }, 'Only changes of this kind.'),
        query(
          'namespace',
          { type: 'string', const: '*' },
          'Changes of all namespaces; the token must be for all of them.',
        ),
        ...paging,
      ],
      responses: {
        '200': { description: 'A page', content: json(ref('Audit')) },
        '400': problem('A parameter is not valid.'),
      },
    },
  },
  '/history/answers': {
    delete: {
      operationId: 'eraseAnswers',
      summary: "Erase the stored answers of the namespace's receivers",
      responses: {
        '200': { description: 'Erased; missing names members that did not do it' },
      },
    },
  },
};
