/** Fields that members send each other about a timer mean nothing in a client's body. */
import { expect, test } from 'vitest';
import { testApi } from './stand-in.contract.ts';

const timer = {
  timing: { interval: 10, 'repeat-for': 30 },
  callback: { http: { uri: 'http://receiver/', opaque: 'x' } },
  reliability: { 'replication-factor': 2 },
};

/**
 * Names of fields of the record, of messages between members, and of the bodies that Chronos members sent each other.
 */
const names = [
  'id',
  'hi',
  'lo',
  'namespace',
  'factor',
  'version',
  'versionMs',
  'versionTie',
  'state',
  'sequence',
  'sequence-number',
  'attempt',
  'start-time',
  'start-time-delta',
  'startMs',
  'dueMs',
  'next-due',
  'retryMs',
  'triedMs',
  'outcome',
  'origin',
  'replicas',
  'sites',
  'site-replicas',
  'cluster-view-id',
  'tombstone',
  'idempotent',
  '__proto__',
];
const values = [7, 'other', ['evil:1'], { replicas: ['evil:1'], namespace: 'other' }];

async function setOf(body: unknown) {
  const { ask, service, bugs } = testApi();
  const { status } = await ask('POST', '/timers', { body });
  expect(bugs).toEqual([]);
  return { status, sets: service.sets };
}

test.each(names)('%s changes nothing, at any place and with any value', async (name) => {
  const plain = await setOf(timer);
  expect(plain.status).toBe(200);
  for (const value of values) {
    const added = JSON.stringify({ added: value }).slice('{"added":'.length, -1);
    for (const place of ['{', '"timing":{', '"callback":{', '"http":{', '"reliability":{']) {
      const body = JSON.stringify(timer).replace(
        place,
        `${place}${JSON.stringify(name)}:${added},`,
      );
      const given = await setOf(body);
      // Names that mean something there are refused with these values.
      if (given.status !== 400) expect(given).toEqual(plain);
      else expect(given.sets).toEqual([]);
    }
  }
});
