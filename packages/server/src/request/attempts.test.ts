import { expect, test } from 'vitest';
import { noText } from '../pop/failures/recent-texts.ts';
import { History } from '../pop/outcome/history.ts';
import { type Attempt } from '../timer/attempt.ts';
import { recordOf } from '../testing/records.ts';
import { gatherAttempts } from './attempts.ts';
import type { Peers } from '../replication/peers.ts';

const number = { hi: 1, lo: 2 };
const attempt = (atMs: number, outcome: number): Attempt => ({
  sequence: 1,
  attempt: 1,
  atMs,
  latenessMs: 0,
  tookMs: 1,
  outcome,
  detail: '',
});

/** Peers that answer from this table; the others do not. */
function peersWith(table: Readonly<Record<string, readonly Attempt[]>>): Peers {
  const send: Peers['send'] = (name, message, done) => {
    const known =
      message.type === 'attempts' && message.namespace === 'n' ? table[name] : undefined;
    done(known === undefined ? null : { type: 'attempts', attempts: known });
  };
  return { send } as Peers;
}

test('attempts of all members come in the order of their time, with the member that made them', async () => {
  const history = new History({ attemptCountMax: 9, timerCountMax: 9 });
  history.add(
    recordOf({ ...number, namespace: 'n' }),
    { ...attempt(2000, 503), detailAt: noText },
    'no',
  );
  const peers = peersWith({ b: [attempt(3000, 200), attempt(1000, 2)], c: [] });
  const parts = { self: 'a', peers, history };
  const { attempts, missing } = await gatherAttempts(parts, 'n', number, ['a', 'b', 'c', 'd']);
  expect(attempts.map(({ atMs, member }) => [atMs, member])).toEqual([
    [1000, 'b'],
    [2000, 'a'],
    [3000, 'b'],
  ]);
  expect(attempts.map(({ status }) => status)).toEqual([expect.any(String), 503, 200]);
  expect(attempts.map(({ failure, detail }) => [failure, detail])).toEqual([
    ['timeout', ''],
    ['5xx', 'no'],
    [null, ''],
  ]);
  expect(missing).toEqual(['d']);
});

test('a member that is alone answers for itself', async () => {
  const history = new History({ attemptCountMax: 9, timerCountMax: 9 });
  const parts = { self: 'a', peers: null, history };
  expect(await gatherAttempts(parts, 'n', number, ['a'])).toEqual({ attempts: [], missing: [] });
});
