/** Answers each message of another member. */
import { compareProgress, type TimerRecord } from '@carillon/core';
import type { Cluster } from './cluster.ts';
import type { HistoryLog } from '../history/log.ts';
import type { HistoryRead } from '../history/read.ts';
import type { History } from '../pop/outcome/history.ts';
import type { Popper } from '../pop/popper.ts';
import type { MessageHandler } from '../replication/inbox.ts';
import { isDueLater } from '../timer/merge.ts';
import { listHere } from '../replication/lists/list.ts';
import { searchHere } from '../replication/lists/search-here.ts';
import type { SearchParts } from '../replication/lists/search-range.ts';
import { tallyHere } from '../replication/lists/tally.ts';
import type { Replica } from '../replication/replica.ts';
import type { Answer } from '../replication/wire/answer.ts';
import type { Message } from '../replication/wire/message.ts';
import type { Numbered } from '../replication/wire/parts.ts';

export interface HandlerParts extends SearchParts {
  readonly cluster: Cluster;
  readonly popper: Popper;
  readonly history: History;
  readonly historyLog: HistoryLog | null;
  /** How this member is, for the doctor of another. */
  readonly facts: () => string;
}

export function createHandler(parts: HandlerParts): MessageHandler {
  const { cluster, popper, replica, history, historyLog } = parts;
  return (from, message, answer) => {
    switch (message.type) {
      case 'store':
        return replica.receive(message.record, message.mode, answer);
      case 'claim':
        return answer(popper.claimed(from, message));
      case 'offer':
        return offered(replica, message, answer);
      case 'read':
        return answer(readHere(parts, message));
      case 'list':
        return void listHere(parts, message.ask).then(({ records, stopped }) =>
          answer({ type: 'records', records, stopped: stopped ?? '' }),
        );
      case 'tally':
        return void tallyHere(parts, message.ask).then((groups) =>
          answer({ type: 'tally', groups }),
        );
      case 'search':
        return void searchHere(parts, message.search).then((found) =>
          answer({ type: 'found', ...found }),
        );
      case 'hello':
        cluster.heardHello(from, message.hello);
        return answer({ type: 'hello', hello: cluster.report.hello() });
      case 'digest':
        return answer(cluster.compare?.digest(from, message.hashes) ?? { type: 'ok' });
      case 'range':
        return answer(
          cluster.compare?.range(from, message.range, message.standings) ?? { type: 'ok' },
        );
      case 'attempts': {
        const { namespace, hi, lo } = message;
        return answer({ type: 'attempts', attempts: history.of(namespace, hi, lo) });
      }
      case 'details':
        return answer({
          type: 'details',
          details: history.newest(message.namespace, message.numbers),
        });
      case 'history':
        return historyHere(historyLog, message, answer);
      case 'erase':
        return eraseHere(parts, message.namespace, answer);
      case 'facts':
        return answer({ type: 'facts', text: parts.facts() });
      case 'unconfirmed':
        cluster.news.noteUnconfirmed(message, message.names);
        return answer({ type: 'ok' });
    }
  };
}

/** unknown: not here, and perhaps given to a member that the asker does not think of. */
function readHere({ replica, cluster }: HandlerParts, { hi, lo }: Numbered): Answer {
  const record = replica.get(hi, lo);
  if (record === undefined && cluster.state.isUnsettled) return { type: 'unknown' };
  return { type: 'record', record: record ?? null };
}

/** A member without a history has no entries; one that is asked by too many is to be asked again. */
function historyHere(
  log: HistoryLog | null,
  { ask }: Extract<Message, { type: 'history' }>,
  answer: (answer: Answer) => void,
): void {
  if (log === null) return answer({ type: 'history', read: { entries: [], more: null } });
  const told = (read: HistoryRead | null): void =>
    answer(read === null ? { type: 'refused', why: 'full' } : { type: 'history', read });
  log.read(ask).then(told, () => told(null));
}

function eraseHere(
  { history, historyLog }: HandlerParts,
  namespace: string,
  answer: (answer: Answer) => void,
): void {
  history.erase(namespace);
  const erased = historyLog?.erase(namespace) ?? Promise.resolve();
  const ok = (): void => answer({ type: 'ok' });
  erased.then(ok, () => answer({ type: 'refused', why: 'full' }));
}

/** "I have this; have you?" A yes is a promise, so it waits for the disk. */
function offered(
  replica: Replica,
  { standing, dueMs }: Extract<Message, { type: 'offer' }>,
  answer: (answer: Answer) => void,
): void {
  const stored: TimerRecord | undefined = replica.get(standing.hi, standing.lo);
  const order = stored === undefined ? -1 : compareProgress(stored, standing);
  if (stored === undefined || order < 0) return answer({ type: 'need' });
  // One that is about to be given away is no answer: the record itself will tell whose it is. Nor is one that came
  // late.
  if (order === 0 && (!replica.owns(stored) || isDueLater(stored, dueMs))) {
    return answer({ type: 'need' });
  }
  replica.sync((ok) => {
    if (!ok) answer({ type: 'refused', why: 'full' });
    else if (order > 0) answer({ type: 'ahead', record: stored });
    else answer({ type: 'stored' });
  });
}
