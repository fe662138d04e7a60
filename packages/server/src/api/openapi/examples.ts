/** Bodies and answers that `/openapi.json` shows; a test holds them to the schema. */

export const exampleProblem = {
  type: 'urn:carillon:problem:bad_request',
  title: 'The request is not valid',
  status: 400,
  detail: 'The interval must be a number from 0 to 3155760000.',
  pointer: '/timing/interval',
};

/** A timer as it is answered, from `exampleTimer`. */
export const exampleAnswer = {
  id: '66ddb6aa0024f0008400000000020284-2',
  state: 'pending',
  timing: { interval: 2 },
  callback: { http: { uri: 'http://127.0.0.1:8080/', opaque: 'hello' } },
  reliability: { 'replication-factor': 2 },
  set: '2026-01-31T09:00:00.000Z',
  sequence: 0,
  attempt: 0,
  'next-due': '2026-01-31T09:00:02.000Z',
  'next-attempt': null,
  'last-outcome': null,
  'last-failure': null,
  version: '1769850000000.0',
  replicas: ['n0', 'n1'],
};

/** A body to copy: it works as it stands beside `carillon listen`. */
export const exampleTimer = {
  timing: { interval: 2 },
  callback: { http: { uri: 'http://127.0.0.1:8080/', opaque: 'hello' } },
};
