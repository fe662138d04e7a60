import { OpenNumbering } from '@carillon/core';
import { settle, VirtualClock } from '@carillon/core/testing';
import { describe, expect, test } from 'vitest';
import type { View } from '../cluster/view/view.ts';
import { changeEntry } from '../history/testing/entries.ts';
import { HistoryLog } from '../history/log.ts';
import { RamDisk } from '../history/ram-disk.ts';
import { History } from '../pop/outcome/history.ts';
import type { Peers } from '../replication/peers.ts';
import {
  decodeAnswers,
  decodeMessages,
  encodeAnswers,
  encodeMessages,
} from '../replication/wire/frame.ts';
import { silentLog } from '../testing/one-member.ts';
import { ClientIds } from './client-ids.ts';
import { GatheredHistory } from './history.ts';
import type { HistoryEntryView, Page } from './service.ts';

const atZero = { nowMs: 0, wallMs: 0 };
const wall = Date.UTC(2026, 0, 1);
const all = {
  namespace: 'default',
  id: null,
  actor: null,
  action: null,
  sinceMs: 0,
  untilMs: Number.MAX_SAFE_INTEGER,
};

/** Members with histories of their own; questions and answers go through their form on the wire. */
function clusterOf(names: readonly string[], silent: readonly string[] = []) {
  const clock = new VirtualClock({ wallMs: wall });
  const logs = new Map(
    names.map((name) => {
      const limits = {
        keepMs: 7 * 86_400_000,
        bytesMax: 1e9,
        budgetOf: () => 1e9,
        fileBytesMax: 1e6,
      };
      const parts = { disk: new RamDisk(), clock, log: silentLog, limits, isDiskFull: () => false };
      const log = new HistoryLog(parts);
      log.start().catch(() => undefined);
      return [name, log];
    }),
  );
  const erased: string[] = [];
  const send: Peers['send'] = (name, message, done) => {
    const frame = encodeMessages({ protocol: 4, from: 'a', items: [message] }, atZero);
    const [asked] = decodeMessages(frame, atZero).items;
    const log = logs.get(name);
    if (silent.includes(name) || log === undefined) return done(null);
    if (asked?.type === 'erase') {
      erased.push(`${name} ${asked.namespace}`);
      return done({ type: 'ok' });
    }
    if (asked?.type !== 'history') return done(null);
    void log.read(asked.ask).then((read) => {
      const answer = { type: 'history', read: read ?? { entries: [], more: null } } as const;
      const bytes = encodeAnswers({ protocol: 4, from: name, items: [answer] }, atZero);
      done(decodeAnswers(bytes, atZero).items[0] ?? null);
    });
  };
  const members = names.map((name) => ({ name }));
  const view = () =>
    ({
      members,
      vanished: [],
      member: (name: string) => members.find((one) => one.name === name),
    }) as unknown as View;
  const self = names[0] ?? '';
  const gathered = new GatheredHistory({
    self,
    peers: { send, silent: () => false } as unknown as Peers,
    view,
    ids: new ClientIds(new OpenNumbering(), view),
    instant: () => ({ nowMs: clock.now(), wallMs: clock.wall() }),
    history: new History({ attemptCountMax: 1, timerCountMax: 1 }),
    historyLog: logs.get(self) ?? null,
  });
  const done = async <T>(promise: Promise<T>): Promise<T> => {
    const state = { over: false };
    promise.then(
      () => (state.over = true),
      () => (state.over = true),
    );
    for (let turn = 0; !state.over && turn < 1000; turn++) {
      await settle();
      await clock.advance(0);
    }
    return promise;
  };
  return { logs, gathered, erased, done };
}

describe('the history of a cluster', () => {
  test('comes from all members in the order of its times, in pages without a gap or a repetition', async () => {
    const { logs, gathered, done } = clusterOf(['a', 'b', 'c']);
    const expected: string[] = [];
    for (let i = 0; i < 900; i++) {
      const name = ['a', 'b', 'c'][(i * i) % 3] ?? 'a';
      logs.get(name)?.note(changeEntry({ wallMs: wall + i, lo: i, actor: 'shop' }));
      expected.unshift(`${i} ${name}`);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<HistoryEntryView> = await done(
        gathered.audit({ ...all, limit: 70, cursor }),
      );
      for (const { timer, member } of page.items)
        seen.push(`${Number(`0x${timer}`) % 2 ** 32} ${member}`);
      expect(page.missing).toEqual([]);
      ({ cursor } = page);
    } while (cursor !== null);
    expect(seen).toEqual(expected);
  });

  test('names members that did not answer, on every page', async () => {
    const { logs, gathered, done } = clusterOf(['a', 'b', 'c'], ['c']);
    for (let i = 0; i < 30; i++) {
      logs.get(i % 2 === 0 ? 'a' : 'b')?.note(changeEntry({ wallMs: wall + i, lo: i }));
    }
    const first = await done(gathered.audit({ ...all, limit: 20, cursor: null }));
    expect(first.missing).toEqual(['c']);
    const second = await done(gathered.audit({ ...all, limit: 20, cursor: first.cursor }));
    expect(second.missing).toEqual(['c']);
    expect(first.items.length + second.items.length).toBe(30);
    expect(second.cursor).toBeNull();
  });

  test('shows every entry once although a clock went back', async () => {
    const { logs, gathered, done } = clusterOf(['a', 'b']);
    const times = [5, 6, 7, 1, 2, 3, 8, 9];
    for (const [i, at] of times.entries()) {
      logs.get('a')?.note(changeEntry({ wallMs: wall + at * 1000, lo: i }));
      logs.get('b')?.note(changeEntry({ wallMs: wall + i * 1000, lo: 100 + i }));
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<HistoryEntryView> = await done(gathered.audit({ ...all, limit: 3, cursor }));
      seen.push(...page.items.map(({ timer }) => timer));
      ({ cursor } = page);
    } while (cursor !== null);
    expect(new Set(seen).size).toBe(16);
    expect(seen.length).toBe(16);
  });

  test('has a late entry at the place of its time, also where that is on another page', async () => {
    const { logs, gathered, done } = clusterOf(['a', 'b']);
    for (const at of [2, 1, 4, 6, 5]) logs.get('a')?.note(changeEntry({ wallMs: wall + at }));
    logs.get('b')?.note(changeEntry({ wallMs: wall + 3 }));
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const page: Page<HistoryEntryView> = await done(gathered.audit({ ...all, limit: 1, cursor }));
      seen.push(...page.items.map(({ atMs }) => atMs - wall));
      ({ cursor } = page);
    } while (cursor !== null);
    expect(seen).toEqual([6, 5, 4, 3, 2, 1]);
  });

  test('a cursor that no page gave out is refused', async () => {
    const { gathered } = clusterOf(['a']);
    const cursor = Buffer.from(`a 0000000000000000 zz`).toString('base64url');
    await expect(gathered.audit({ ...all, limit: 1, cursor })).rejects.toThrow(
      'The parameter cursor',
    );
  });

  test('answers are erased at every member', async () => {
    const { gathered, erased, done } = clusterOf(['a', 'b', 'c'], ['c']);
    expect(await done(gathered.eraseAnswers('shop', 'night'))).toEqual(['c']);
    expect(erased).toEqual(['b shop']);
    const { items } = await done(
      gathered.audit({ ...all, namespace: 'shop', limit: 9, cursor: null }),
    );
    expect(items).toEqual([expect.objectContaining({ action: 'erase', actor: 'night' })]);
  });
});
