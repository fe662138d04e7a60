/** Broken rules of merging two records of a timer, and of confirming one. */
import { compareProgress, compareVersions, State, type TimerRecord } from '@carillon/core';
import { insides, Journal, Peers, Replica } from '@carillon/server/internal';
import type { Broken, Mend } from './broken.ts';

/** Makes a replica also take each record that `wrongly` accepts, against the rules of merging. */
function takesAlso(wrongly: (stored: TimerRecord, incoming: TimerRecord) => boolean): () => Mend {
  return () => {
    const replica = Replica.prototype;
    const { receive } = replica;
    replica.receive = function (record, mode, done) {
      const stored = this.get(record.hi, record.lo);
      if (stored === undefined || mode === 'create' || !wrongly(stored, record)) {
        return receive.call(this, record, mode, done);
      }
      // An invariant keeps a record from going back: it does not know one that was dropped.
      this.drop(stored);
      this.write(record);
      this.sync(() => done({ type: 'stored' }));
    };
    return () => {
      replica.receive = receive;
    };
  };
}

function sameVersion(a: TimerRecord, b: TimerRecord): boolean {
  return compareVersions(a, b) === 0;
}

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
      (stored, incoming) =>
        sameVersion(stored, incoming) &&
        stored.state === State.live &&
        incoming.state === State.live &&
        stored.sequence > incoming.sequence,
    ),
  },
  {
    name: 'attempt ignored in merge',
    apply: takesAlso(
      (stored, incoming) =>
        sameVersion(stored, incoming) &&
        stored.state === State.live &&
        incoming.state === State.live &&
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
    apply: () => {
      const { replica } = insides;
      const { inTime } = replica;
      replica.inTime = (incoming) => incoming;
      return () => {
        replica.inTime = inTime;
      };
    },
  },
  {
    name: 'a cron record is due as much earlier as its older copy is',
    apply: () => {
      const { replica } = insides;
      const { inTime } = replica;
      replica.inTime = function (incoming, stored) {
        const kept = inTime.call(this, incoming, stored);
        if (kept.dueMs === incoming.dueMs) return kept;
        const dueMs = incoming.dueMs - (incoming.startMs - stored.startMs);
        return { ...kept, dueMs, retryMs: dueMs };
      };
      return () => {
        replica.inTime = inTime;
      };
    },
  },
  {
    name: 'a list of replicas with a stand-in is not taken over',
    apply: () => {
      const replica = Replica.prototype;
      const { receive } = replica;
      replica.receive = function (record, mode, done) {
        const stored = this.get(record.hi, record.lo);
        const same = stored !== undefined && compareProgress(stored, record) === 0;
        receive.call(this, same ? { ...record, replicas: stored.replicas } : record, mode, done);
      };
      return () => {
        replica.receive = receive;
      };
    },
  },
  {
    name: 'a request that was beaten while it waited is confirmed',
    apply: () => {
      const { write } = insides;
      const { beatenBy } = write;
      write.beatenBy = () => null;
      return () => {
        write.beatenBy = beatenBy;
      };
    },
  },
  {
    name: 'answer before replication',
    apply: () => {
      const peers = Peers.prototype;
      const { send } = peers;
      peers.send = function (name, message, done) {
        if (message.type !== 'store') return send.call(this, name, message, done);
        done({ type: 'stored' });
        send.call(this, name, message, () => undefined);
      };
      return () => {
        peers.send = send;
      };
    },
  },
  {
    name: 'no sync before an answer',
    apply: () => {
      const journal = Journal.prototype;
      const { commit } = journal;
      journal.commit = function (done) {
        commit.call(this, () => undefined);
        done(null);
      };
      return () => {
        journal.commit = commit;
      };
    },
  },
];
