import { SeededRandom, VirtualClock } from '@carillon/core/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Etcd, EtcdError, type KeyValue, type WatchHandlers } from './etcd/etcd.ts';
import { Mirror } from './mirror.ts';
import { KeptLog } from './testing/kept-log.ts';

let clock: VirtualClock;
let log: KeptLog;
let mirror: Mirror;
/** Answer of the next read. */
let content: { revision: number; entries: KeyValue[] };
let watches: { fromRevision: number; handlers: WatchHandlers }[];
let told: string[];

function entry(name: string, modRevision: number): KeyValue {
  const key = `p/${name}`;
  return { key, value: String(modRevision), createRevision: modRevision, modRevision, lease: 0n };
}

beforeEach(async () => {
  clock = new VirtualClock();
  log = new KeptLog();
  content = { revision: 5, entries: [entry('a', 3)] };
  watches = [];
  told = [];
  const etcd: Partial<Etcd> = {
    range: () => Promise.resolve(content),
    watch: (_prefix, fromRevision, handlers) => {
      watches.push({ fromRevision, handlers });
      return () => {};
    },
  };
  mirror = new Mirror({
    etcd: etcd as Etcd,
    clock,
    random: new SeededRandom(1),
    log,
    prefix: 'p/',
  });
  mirror.onChange((changes) => {
    for (const change of changes) {
      told.push(
        change.kind === 'put'
          ? `${change.entry.key}@${change.entry.modRevision}`
          : `-${change.key}@${change.revision}`,
      );
    }
  });
  await mirror.start();
});

function watch(): WatchHandlers {
  return (watches.at(-1) as (typeof watches)[number]).handlers;
}

describe('mirror', () => {
  test('reads at R and watches from R + 1', () => {
    expect(watches[0]?.fromRevision).toBe(6);
    expect(told).toEqual(['p/a@3']);
    expect(mirror.connected).toBe(false);
    watch().onOpen();
    expect(mirror.connected).toBe(true);
  });

  test('a change that a read has already shown is not told again by the watch, and cannot take the picture back', async () => {
    watch().onOpen();
    content = { revision: 9, entries: [entry('a', 8)] };
    await mirror.read();
    watch().onChanges(7, [{ kind: 'put', entry: entry('a', 7) }]);
    watch().onChanges(8, [{ kind: 'put', entry: entry('a', 8) }]);
    expect(told).toEqual(['p/a@3', 'p/a@8']);
    expect(mirror.entries.get('p/a')?.modRevision).toBe(8);
    expect(mirror.revision).toBe(9);
    watch().onChanges(10, [{ kind: 'delete', key: 'p/a', revision: 10 }]);
    expect(told.at(-1)).toBe('-p/a@10');
  });

  test('a read that is older than the watch changes nothing', async () => {
    watch().onChanges(7, [{ kind: 'put', entry: entry('a', 7) }]);
    content = { revision: 6, entries: [entry('a', 3)] };
    await mirror.read();
    expect(mirror.entries.get('p/a')?.modRevision).toBe(7);
  });

  test('a cut watch goes on with the next revision, a compacted one starts with a read', async () => {
    watch().onChanges(7, [{ kind: 'put', entry: entry('b', 7) }]);
    watch().onEnd(new EtcdError('no-answer', 'cut'));
    await clock.advance(500);
    expect(watches.at(-1)?.fromRevision).toBe(8);
    content = { revision: 20, entries: [entry('c', 15)] };
    watch().onOpen();
    watch().onEnd(new EtcdError('compacted', 'compacted'));
    await clock.advance(500);
    expect(watches.at(-1)?.fromRevision).toBe(21);
    expect(told).toEqual(['p/a@3', 'p/b@7', '-p/a@20', '-p/b@20', 'p/c@15']);
  });

  test('every minute it reads again; a change that the watch left out is put right and reported', async () => {
    watch().onOpen();
    content = { revision: 5, entries: [] };
    await clock.advance(80_000);
    expect(told.at(-1)).toBe('-p/a@5');
    expect(log.lines.join()).toContain('ring-watch-incomplete');
  });

  test('after close nothing is told, and no alarm is left', async () => {
    mirror.close();
    watch().onChanges(7, [{ kind: 'put', entry: entry('b', 7) }]);
    watch().onEnd(new EtcdError('no-answer', 'cut'));
    await clock.advance(100_000);
    expect(told).toEqual(['p/a@3']);
    expect(clock.nextMs()).toBeNull();
  });
});
