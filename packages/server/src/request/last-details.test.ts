import { hex16 } from '@carillon/core';
import { expect, test } from 'vitest';
import { History } from '../pop/outcome/history.ts';
import type { Peers } from '../replication/peers.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Message } from '../replication/wire/message.ts';
import { recordOf } from '../testing/records.ts';
import { lastDetails } from './last-details.ts';

const limits = { attemptCountMax: 16, timerCountMax: 100 };
const failed = recordOf({ hi: 1, lo: 1, outcome: 503 });
const alsoFailed = recordOf({ hi: 1, lo: 2, outcome: 1 });
const well = recordOf({ hi: 1, lo: 3, outcome: 200 });
const forgotten = recordOf({ hi: 1, lo: 4, outcome: 503 });

function historyOf(said: readonly (readonly [typeof failed, number, string])[]): History {
  const history = new History(limits);
  for (const [record, atMs, detail] of said) {
    const common = { sequence: 1, attempt: 1, latenessMs: 0, tookMs: 1, detailAt: 0 };
    history.add(record, { ...common, atMs, outcome: record.outcome }, detail);
  }
  return history;
}

test('the newest attempt that a member remembers is told; each member is asked once for a page', async () => {
  const own = historyOf([
    [failed, 1000, 'older'],
    [alsoFailed, 3000, 'refused here'],
    [well, 500, 'was down'],
  ]);
  const others = historyOf([[failed, 2000, 'newer']]);
  const asked: string[] = [];
  const peers = {
    silent: (name: string) => name === 'silent',
    send: (name: string, message: Message, done: (answer: Answer | null) => void) => {
      asked.push(name);
      if (name === 'old' || message.type !== 'details') return done(null);
      done({ type: 'details', details: others.newest(message.namespace, message.numbers) });
    },
  } as unknown as Peers;
  const records = [failed, alsoFailed, well, forgotten];
  const names = ['a', 'b', 'old', 'silent'];
  const parts = { self: 'a', history: own, peers };
  const found = await lastDetails(parts, failed.namespace, records, names);
  expect([...found]).toEqual([
    [hex16(1, 1), 'newer'],
    [hex16(1, 2), 'refused here'],
  ]);
  expect(asked).toEqual(['b', 'old']);
});

test('timers that are well cost no question, and another namespace is told nothing', async () => {
  const history = historyOf([[failed, 1000, 'secret']]);
  const peers = {
    silent: () => false,
    send: () => {
      throw new Error('No member is to be asked.');
    },
  } as unknown as Peers;
  const well2 = await lastDetails({ self: 'a', history, peers }, 'default', [well], ['a', 'b']);
  expect(well2.size).toBe(0);
  const other = await lastDetails({ self: 'a', history, peers: null }, 'other', [failed], ['a']);
  expect(other.size).toBe(0);
});
