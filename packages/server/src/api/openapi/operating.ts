/** The operations on the member and its cluster. */
import { json, problem, ref, text } from './parts.ts';

export const operatingPaths = {
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
      summary: 'Rights of the token of this request',
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
  '/doctor': {
    get: {
      operationId: 'examineCluster',
      summary: 'Findings about all members, each with advice',
      responses: { '200': { description: 'Findings and facts', content: json(ref('Doctor')) } },
    },
  },
  '/doctor/bundle': {
    get: {
      operationId: 'getSupportBundle',
      summary: 'Findings, cluster, figures and options without secrets, to be sent with a report',
      responses: { '200': { description: 'The bundle', content: json({ type: 'object' }) } },
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
