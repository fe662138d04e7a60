/** Broken rules of merging two records of a timer, and of confirming one. */
import { compareProgress, compareVersions, State, type TimerRecord } from '@carillon/core';
import {
  ChangesUnderWay,
  FrameDelays,
  insides,
  Journal,
  Peers,
  Replica,
} from '@carillon/server/internal';
import { type Broken, type Mend, replaces, together } from './broken.ts';

/** Makes a replica also take each record that `wrongly` accepts, against the rules of merging. */
function takesAlso(wrongly: (stored: TimerRecord, incoming: TimerRecord) => boolean): () => Mend {
  return replaces(Replica.prototype, 'receive', ({ original, part }, record, mode, done) => {
    const stored = part.get(record.hi, record.lo);
    if (stored === undefined || mode === 'create' || !wrongly(stored, record)) {
      return original.call(part, record, mode, done);
    }
    // An invariant keeps a record from going back: it does not know one that was dropped.
    part.drop(stored);
    part.write(record);
    part.sync(() => done({ type: 'stored' }));
  });
}

function sameVersion(a: TimerRecord, b: TimerRecord): boolean {
  return compareVersions(a, b) === 0;
}

/** Two states of one version that will pop. */
function bothLive(a: TimerRecord, b: TimerRecord): boolean {
  return sameVersion(a, b) && a.state === State.live && b.state === State.live;
}

/** No member can tell how long a frame was on its way, as where one of the two is of an older release. */
const unmeasured = replaces(FrameDelays.prototype, 'of', () => 0);

export const merging: readonly Broken[] = [
  {
    name: 'version ignored in merge',
    apply: takesAlso((stored, incoming) => compareVersions(stored, incoming) > 0),
  },
  {
    name: 'a live record beats a tombstone of its version',
    apply: takesAlso(
      (stored, incoming) =>
        sameVersion(stored, incoming) &&
        stored.state === State.tombstone &&
        incoming.state === State.live,
    ),
  },
  {
    name: 'sequence ignored in merge',
    apply: takesAlso(
      (stored, incoming) => bothLive(stored, incoming) && stored.sequence > incoming.sequence,
    ),
  },
  {
    name: 'attempt ignored in merge',
    apply: takesAlso(
      (stored, incoming) =>
        bothLive(stored, incoming) &&
        stored.sequence === incoming.sequence &&
        stored.attempt > incoming.attempt,
    ),
  },
  {
    name: 'a dead letter beats a tombstone of its version',
    apply: takesAlso(
      (stored, incoming) =>
        sameVersion(stored, incoming) &&
        stored.state === State.tombstone &&
        incoming.state === State.dead,
    ),
  },
  {
    name: 'a cron record that lay in a socket keeps its late time',
    apply: replaces(insides.replica, 'inTime', (_, incoming) => incoming),
  },
  {
    name: 'a cron record without an older copy keeps its late time',
    apply: replaces(insides.replica, 'inTime', ({ original, part }, incoming, stored) =>
      stored === undefined ? incoming : original.call(part, incoming, stored),
    ),
  },
  {
    name: 'a cron record is due as much earlier as its older copy is',
    apply: together(
      unmeasured,
      replaces(insides.replica, 'inTime', ({ original, part }, incoming, stored) => {
        const kept = original.call(part, incoming, stored);
        if (stored === undefined || kept.dueMs === incoming.dueMs) return kept;
        const dueMs = incoming.dueMs - (incoming.startMs - stored.startMs);
        return { ...kept, dueMs, retryMs: dueMs };
      }),
    ),
  },
  {
    name: 'a list of replicas with a stand-in is not taken over',
    apply: replaces(Replica.prototype, 'receive', ({ original, part }, record, mode, done) => {
      const stored = part.get(record.hi, record.lo);
      const same = stored !== undefined && compareProgress(stored, record) === 0;
      original.call(part, same ? { ...record, replicas: stored.replicas } : record, mode, done);
    }),
  },
  {
    name: 'a request that was beaten while it waited is confirmed',
    apply: replaces(insides.write, 'isReplacedBy', () => false),
  },
  {
    name: 'an earlier request of one member is made again above a later one',
    apply: replaces(ChangesUnderWay.prototype, 'stamped', () => undefined),
  },
  {
    name: 'answer before replication',
    apply: replaces(Peers.prototype, 'send', ({ original, part }, name, message, done) => {
      if (message.type !== 'store') return original.call(part, name, message, done);
      done({ type: 'stored' });
      original.call(part, name, message, () => undefined);
    }),
  },
  {
    name: 'no sync before an answer',
    apply: replaces(Journal.prototype, 'commit', ({ original, part }, done) => {
      original.call(part, () => undefined);
      done(null);
    }),
  },
];
