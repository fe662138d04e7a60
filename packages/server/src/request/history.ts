/**
 * The history of the whole cluster: entries are kept where they were made, and every member is asked. Pages go back
 * from the newest entry; a cursor says for each member which entries were shown, so that the clocks of members decide
 * the order of entries, but never whether one is shown.
 */
import { formatVersion, hex16, parseHex16 } from '@carillon/core';
import type { Action, Entry } from '../history/entry.ts';
import type { HistoryLog } from '../history/log.ts';
import type { HistoryAsk, HistoryRead, Position } from '../history/read.ts';
import type { History } from '../pop/outcome/history.ts';
import type { Peers } from '../replication/peers.ts';
import { failureOf, outcomeWord } from '../timer/attempt.ts';
import { badCursor, type ClientIds } from './client-ids.ts';
import { membersAsked, type MembersAskedParts, membersOf } from './members-asked.ts';
import {
  aheadCount,
  atOf,
  type Found,
  type Reach,
  type Spot,
  takeNewest,
} from './history-order.ts';
import { noteChange, type NotingParts } from './noting.ts';
import type { HistoryEntryView, HistoryQuery, HistoryService, Page } from './service.ts';

export interface HistoryParts extends MembersAskedParts, NotingParts {
  readonly peers: Peers | null;
  readonly history: History;
  readonly historyLog: HistoryLog | null;
}

/** So often members are asked again where none has found an entry yet, and there are more to look through. */
const roundCountMax = 20;

export class GatheredHistory implements HistoryService {
  private readonly parts: HistoryParts;

  constructor(parts: HistoryParts) {
    this.parts = parts;
  }

  history(query: HistoryQuery): Promise<Page<HistoryEntryView>> {
    return this.page(query, false);
  }

  audit(query: HistoryQuery): Promise<Page<HistoryEntryView>> {
    return this.page(query, true);
  }

  async eraseAnswers(namespace: string, actor = ''): Promise<readonly string[]> {
    const names = membersAsked(this.parts);
    const done = await Promise.all(names.map((name) => this.eraseAt(name, namespace)));
    this.noteWhole('erase', namespace, actor);
    return membersOf(
      this.parts,
      names.filter((_, i) => done[i] !== true),
    );
  }

  noteOrder(action: 'drain' | 'resync', namespace: string, actor: string): void {
    this.noteWhole(action, namespace, actor);
  }

  /** Notes a change that is about no single timer. */
  private noteWhole(action: Action, namespace: string, actor: string): void {
    const record = { namespace, hi: 0, lo: 0, versionMs: 0, versionTie: 0 };
    noteChange(this.parts, record, { action, actor, tag: '' });
  }

  private async page(query: HistoryQuery, changesOnly: boolean): Promise<Page<HistoryEntryView>> {
    const { ids } = this.parts;
    const { namespace, id, cursor: _, ...rest } = query;
    const number = id === null || namespace === null ? null : ids.number(namespace, id);
    const reached = readCursor(ids, query);
    const base = { ...rest, namespace, number, changesOnly };
    let items: readonly Found[] = [];
    for (let round = 0; round < roundCountMax && items.length === 0; round++) {
      const { found, reaches } = takeNewest(await this.round(base, reached), reached, query.limit);
      items = found;
      for (const [name, reach] of reaches) reached.set(name, reach);
      if (![...reached.values()].some(isSpot)) break;
    }
    const missing = [...reached].filter(([, reach]) => reach === 'missing').map(([name]) => name);
    return {
      items: items.map(({ name, entry }) => viewOf(entry, name, ids)),
      cursor: cursorOf(ids, query, reached),
      missing: membersOf(this.parts, missing),
    };
  }

  /** The answers of the members that have more to tell. */
  private async round(
    base: Omit<HistoryAsk, 'before'>,
    reached: ReadonlyMap<string, Reach>,
  ): Promise<Map<string, HistoryRead | null>> {
    const names = membersAsked(this.parts).filter((name) => {
      const reach = reached.get(name);
      return reach === undefined || isSpot(reach);
    });
    const reads = await Promise.all(
      names.map((name) => {
        const reach = reached.get(name);
        const before = isSpot(reach) ? reach.position : null;
        return this.readAt(name, { ...base, limit: base.limit + aheadCount, before });
      }),
    );
    return new Map(names.map((name, i) => [name, reads[i] ?? null]));
  }

  /** null: the member does not answer, or is of a release without a history. */
  private readAt(name: string, ask: HistoryAsk): Promise<HistoryRead | null> {
    const { self, peers, historyLog } = this.parts;
    if (name === self) return historyLog?.read(ask) ?? Promise.resolve(nothing);
    if (peers === null) return Promise.resolve(null);
    return new Promise((resolve) => {
      peers.send(name, { type: 'history', ask }, (answer) =>
        resolve(answer?.type === 'history' ? answer.read : null),
      );
    });
  }

  private async eraseAt(name: string, namespace: string): Promise<boolean> {
    const { self, peers, history, historyLog } = this.parts;
    if (name === self) {
      history.erase(namespace);
      await historyLog?.erase(namespace);
      return true;
    }
    return new Promise((resolve) => {
      if (peers === null) return resolve(false);
      peers.send(name, { type: 'erase', namespace }, (answer) => resolve(answer?.type === 'ok'));
    });
  }
}

const nothing: HistoryRead = { entries: [], more: null };

function isSpot(reach: Reach | undefined): reach is Spot {
  return typeof reach === 'object';
}

function viewOf(entry: Entry, member: string, ids: ClientIds): HistoryEntryView {
  const { namespace } = entry;
  const atMs = atOf(entry);
  const timer = ids.short(namespace, entry);
  const common = { namespace, timer, member, atMs };
  if (entry.kind === 'attempt') {
    const { sequence, attempt, latenessMs, tookMs, outcome, position, detail } = entry;
    const shown = { sequence, attempt, latenessMs, tookMs, position, detail };
    const status = outcomeWord(outcome) ?? 'unknown';
    return { kind: 'attempt', ...common, ...shown, status, failure: failureOf(outcome) };
  }
  const { action, actor, tag, sequence } = entry;
  return {
    kind: 'change',
    ...common,
    action,
    actor: actor === '' ? null : actor,
    tag: tag === '' ? null : tag,
    sequence: sequence === 0 ? null : sequence,
    version: formatVersion(entry),
  };
}

/** A position in 64 bits: file, offset and index in 28, 24 and 12 of them. */
function packed({ file, offset, index }: Position): { hi: number; lo: number } {
  return {
    hi: ((file << 4) | (offset >>> 20)) >>> 0,
    lo: (((offset & 0xfffff) << 12) | index) >>> 0,
  };
}

function unpacked({ hi, lo }: { hi: number; lo: number }): Position {
  const offset = ((hi & 15) << 20) | (lo >>> 12);
  return { file: hi >>> 4, offset, index: lo & 4095 };
}

/** null: no member has more. Positions tell how much other namespaces do, so they go through the mapping of cursors. */
function cursorOf(
  ids: ClientIds,
  { namespace }: HistoryQuery,
  reached: ReadonlyMap<string, Reach>,
): string | null {
  if (![...reached.values()].some(isSpot)) return null;
  const parts = [...reached].map(([name, reach]) => {
    if (!isSpot(reach)) return `${name} ${reach}`;
    const { hi, lo } = packed(reach.position);
    const position = ids.cursor(namespace ?? '*', hex16(hi, lo)) ?? '';
    return `${name} ${position}${reach.shown === 0n ? '' : ` ${reach.shown.toString(16)}`}`;
  });
  return Buffer.from(parts.join('\n')).toString('base64url');
}

/** Throws CarillonError. */
function readCursor(ids: ClientIds, { namespace, cursor }: HistoryQuery): Map<string, Reach> {
  const reached = new Map<string, Reach>();
  if (cursor === null) return reached;
  for (const line of Buffer.from(cursor, 'base64url').toString().split('\n')) {
    const [name = '', reach = '', shown = '0'] = line.split(' ', 3);
    if (reach === 'end' || reach === 'missing') {
      reached.set(name, reach);
      continue;
    }
    const number = parseHex16(ids.readCursor(namespace ?? '*', reach));
    if (!/^[0-9a-f]{1,32}$/.test(shown)) throw badCursor();
    if (number !== null) {
      reached.set(name, { position: unpacked(number), shown: BigInt(`0x${shown}`) });
    }
  }
  return reached;
}
