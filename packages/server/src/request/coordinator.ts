/**
 * One client request end to end. Any member coordinates any request: number and version → place → write to all
 * replicas, old and new → answer when they have confirmed. Holds no timer state of its own. Sets are in `set.ts`,
 * the part that all changes share in `change.ts`.
 */
import {
  CarillonError,
  compareVersions,
  State,
  type TimerId,
  type TimerRecord,
  type Version,
} from '@carillon/core';
import type {
  AttemptsView,
  Changed,
  EndedView,
  LetterFilter,
  LetterQuery,
  LetterSummary,
  ListQuery,
  OneTimerView,
  Page,
  TimerService,
  TimerView,
} from './service.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { deadLetterNumber, resent } from '../pop/outcome/dead-letters.ts';
import { type AttemptsViewParts, gatherAttempts } from './attempts.ts';
import { membersAsked, membersOf } from './members-asked.ts';
import { lastDetails } from './last-details.ts';
import { listEverywhere } from '../replication/lists/list.ts';
import type { SearchParts } from '../replication/lists/search-range.ts';
import { searchEverywhere } from '../replication/lists/search.ts';
import { tallyEverywhere } from '../replication/lists/tally.ts';
import type { ListAsk } from '../replication/wire/list.ts';
import { failureOf } from '../timer/attempt.ts';
import { SteadyInstants } from '../timer/due-wall.ts';
import { entomb, type Instant } from '../timer/schedule.ts';
import { endedView, timerView } from './timer-view.ts';
import { written } from './outcome.ts';
import type { RecordChanges, ChangeParts } from './change.ts';
import { type Asked, letterSubject, noteChange, type NotingParts, type Subject } from './noting.ts';

/** Of a list: timers of any holder and receiver, whether they fail or not. */
const anywhere = { member: null, role: null } as const;
const anyhow = { receiver: null, failure: null } as const;
const anyTag = { tagPrefix: null } as const;

/** A list as the coordinator asks for it: of timers or of dead letters. */
type RecordQuery = Pick<ListQuery, 'member' | 'role' | 'limit' | 'cursor' | 'tagPrefix'> &
  LetterFilter & { readonly state: string };

/** Dead letters that one request discards: more would keep its client waiting. */
const discardCountMax = 5000;

/** Of records that are to end. */
interface Which extends LetterFilter {
  readonly state: string;
  /** About so many. */
  readonly countMax: number;
}

/** Timers of a tag, or dead letters, whose ends are begun in one turn of the event loop. */
const endsEachTurn = 50;
/**
 * How far ahead of the own wall clock a client may move versions: further than any two clocks of a cluster should be
 * apart, and not so far that a client could use versions up.
 */
const aheadMsMax = 86_400_000;

export interface CoordinatorParts extends ChangeParts, AttemptsViewParts, NotingParts, SearchParts {
  readonly metrics: Metrics;
  /** Why a namespace can have no further record right now; null when it can. */
  readonly refuseRecord: (namespace: string) => CarillonError | null;
}

export class Coordinator implements TimerService {
  private readonly parts: CoordinatorParts;
  private readonly changes: RecordChanges;
  private readonly instants = new SteadyInstants();

  constructor(parts: CoordinatorParts, changes: RecordChanges) {
    this.parts = parts;
    this.changes = changes;
  }

  saw(seen: Version): void {
    const { versions, clock } = this.parts;
    // A version that the clock has reached moves nothing, however far ahead it is.
    if (seen.versionMs > clock.wall() + aheadMsMax && !versions.isPast(seen)) {
      throw new CarillonError(
        'bad_request',
        'Carillon-Seen is more than a day ahead of the clock of this member; leave it out, or mend the clock.',
      );
    }
    versions.observe(seen);
  }

  cancel(namespace: string, id: TimerId, actor = ''): Promise<Changed> {
    const asked: Asked = { action: 'cancel', actor, tag: '' };
    return this.end(namespace, this.parts.ids.read(namespace, id), asked);
  }

  /** `id`: as members know it. */
  private async end(
    namespace: string,
    id: TimerId,
    asked: Asked,
    subject?: Subject,
  ): Promise<Changed> {
    const { metrics, ids } = this.parts;
    const ended = (version: Version): TimerRecord => {
      const at = this.parts.instant();
      const record = this.changes.draft({ namespace, factor: id.factor, number: id, version, at });
      return entomb(record, false, at);
    };
    try {
      // A cancel of an unknown timer leaves a record too, so it has a limit as well.
      const refusal = this.parts.refuseRecord(namespace);
      if (refusal !== null && (await this.changes.read(id)) === null) throw refusal;
      const { record, copies } = await this.changes.change(ended, id);
      metrics.cancels.add('confirmed');
      noteChange(this.parts, record, asked, subject);
      return { id: ids.of(record), copies, version: record };
    } catch (error) {
      metrics.cancels.add('refused');
      // A timer of another namespace does not exist for this client: it had nothing to cancel, as if there were none.
      if (!(error instanceof CarillonError) || error.code !== 'not_found') throw error;
      const record = ended(this.changes.stamp(this.parts.instant()));
      const wanted = record.replicas.length;
      const copies = { have: wanted, wanted };
      return { id: ids.of(record), copies, version: record };
    }
  }

  async get(namespace: string, id: TimerId): Promise<OneTimerView | null> {
    const record = await this.read(namespace, id);
    if (record === null || record.state === State.tombstone) return null;
    const deadLetter = await this.letterOf(record);
    const details = await this.details(namespace, [record]);
    return { ...timerView(record, this.parts.ids, this.steady(), details), deadLetter };
  }

  async ended(namespace: string, id: TimerId): Promise<EndedView | null> {
    const record = await this.read(namespace, id);
    return record?.state === State.tombstone
      ? endedView(record, await this.letterOf(record), this.steady())
      : null;
  }

  async deadLetter(namespace: string, id: TimerId): Promise<TimerView | null> {
    const letter = await this.letter(namespace, this.parts.ids.read(namespace, id));
    return letter === null ? null : timerView(letter, this.parts.ids, this.steady());
  }

  /** For times that are shown: reading them twice gives the same. */
  private steady(): Instant {
    return this.instants.of(this.parts.instant());
  }

  private async read(namespace: string, id: TimerId): Promise<TimerRecord | null> {
    const record = await this.changes.read(this.parts.ids.read(namespace, id));
    return record?.namespace === namespace ? record : null;
  }

  /** The id of the dead letter of the record's newest pop; null: there is none. */
  private async letterOf(record: TimerRecord): Promise<string | null> {
    const isGivenUp = record.attempt === 0 && failureOf(record.outcome) !== null;
    if (!isGivenUp || record.state === State.dead) return null;
    const number = deadLetterNumber(record, record.sequence);
    const id = { ...number, factor: record.factor, bloomHi: 0, bloomLo: 0 };
    const letter = await this.letter(record.namespace, id);
    return letter === null ? null : this.parts.ids.of(letter);
  }

  async list(query: ListQuery): Promise<Page<TimerView>> {
    const { order, fromMs, toMs, wantTotal, state, ...which } = query;
    const asked = { ...which, state: state ?? '' };
    if (order !== null || fromMs !== null || toMs !== null) return this.dueList(query);
    const page = await this.page(asked);
    if (!wantTotal) return page;
    // Counting is a part of a search, here of one that shows nothing.
    return {
      ...page,
      total: (await this.dueList({ ...query, limit: 0, cursor: null })).total ?? null,
    };
  }

  private async dueList(query: ListQuery): Promise<Page<TimerView>> {
    const { ids } = this.parts;
    const { namespace, state, wantTotal } = query;
    const search = {
      ask: askOf({ ...query, cursor: null, state: state ?? '' }),
      fromMs: query.fromMs ?? Number.NEGATIVE_INFINITY,
      toMs: query.toMs ?? Number.POSITIVE_INFINITY,
      after: ids.readPlace(namespace, query.cursor),
      wantTotal,
    };
    const found = await searchEverywhere(this.parts, search, this.membersAsked());
    return {
      items: await this.views(found.records, await this.details(namespace, found.records)),
      cursor: ids.place(namespace, found.cursor),
      missing: this.membersOf(found.missing),
      ...(found.total !== null && { total: found.total }),
    };
  }

  deadLetters(query: LetterQuery): Promise<Page<TimerView>> {
    return this.page({ ...query, ...anywhere, ...anyTag, state: 'dead' });
  }

  async letterSummary(filter: LetterFilter): Promise<LetterSummary> {
    const ask = askOf({
      ...filter,
      ...anywhere,
      ...anyTag,
      state: 'dead',
      limit: 0,
      cursor: null,
    });
    const { groups, missing } = await tallyEverywhere(this.parts, ask, this.membersAsked());
    const { nowMs, wallMs } = this.steady();
    const wall = (ms: number): number => Math.round(ms - nowMs + wallMs);
    return {
      groups: groups
        .map(({ firstMs, lastMs, ...group }) => ({
          ...group,
          oldestMs: wall(firstMs),
          newestMs: wall(lastMs),
        }))
        .toSorted((a, b) => b.count - a.count),
      missing: this.membersOf(missing),
    };
  }

  async attempts(namespace: string, id: TimerId): Promise<AttemptsView> {
    const number = this.parts.ids.number(namespace, id);
    const gathered = await gatherAttempts(this.parts, namespace, number, this.membersAsked());
    return { ...gathered, missing: this.membersOf(gathered.missing) };
  }

  cancelByTag(
    namespace: string,
    tag: string,
    actor = '',
  ): Promise<{ count: number; version: Version }> {
    const which = { namespace, tag, ...anyhow, state: '', countMax: Number.POSITIVE_INFINITY };
    return this.cancelAll(which, 'timers with the tag', { action: 'cancel', actor, tag });
  }

  discardMany(
    filter: LetterFilter,
    actor = '',
  ): Promise<{ count: number; more: boolean; version: Version }> {
    const which = { ...filter, state: 'dead', countMax: discardCountMax };
    const asked: Asked = { action: 'discard', actor, tag: filter.tag ?? '' };
    return this.cancelAll(which, 'dead letters', asked);
  }

  private async cancelAll(
    { countMax, ...which }: Which,
    what: string,
    asked: Asked,
  ): Promise<{ count: number; more: boolean; version: Version }> {
    const { namespace } = which;
    const missing = new Set<string>();
    let count = 0;
    let cursor: string | null = null;
    do {
      const query = { ...anywhere, ...anyTag, ...which, limit: 500, cursor };
      const page: Page<TimerRecord> = await this.records(query);
      for (const name of page.missing) missing.add(name);
      await this.endEach(namespace, page.items, asked);
      count += page.items.length;
      ({ cursor } = page);
    } while (cursor !== null && count < countMax);
    const version = this.changes.stamp(this.parts.instant());
    if (missing.size > 0) {
      const silent = [...missing].join(' and ');
      const remains = `${what} of which no other member has a copy may remain there`;
      throw new CarillonError(
        'overloaded',
        `${count} are gone. No answer came from ${silent}, and ${remains}: try again when it is back.`,
        { version },
      );
    }
    return { count, more: cursor !== null, version };
  }

  /** Begins a few ends in each turn: a sync on disk serves all that were begun until then. */
  private async endEach(
    namespace: string,
    records: readonly TimerRecord[],
    asked: Asked,
  ): Promise<void> {
    const ends: Promise<Changed>[] = [];
    for (const [i, record] of records.entries()) {
      if (i > 0 && i % endsEachTurn === 0) await this.parts.replica.scans.next();
      const isLetter = record.state === State.dead;
      const subject = isLetter ? letterSubject(this.parts.ids, record) : undefined;
      const end = this.end(namespace, this.idParts(record), asked, subject);
      // Failures are looked at when all have been begun.
      end.catch(() => undefined);
      ends.push(end);
    }
    await Promise.all(ends);
  }

  async redeliver(namespace: string, id: TimerId, actor = ''): Promise<Version | null> {
    const letter = await this.letter(namespace, this.parts.ids.read(namespace, id));
    if (letter === null) return null;
    const { nowMs, wallMs } = this.parts.instant();
    const record = resent(letter, nowMs);
    const former = this.changes.formerHolders(id);
    const outcome = await this.changes.tryWrite({ record, mode: 'any', former });
    // Another request to send the same letter came first, which serves both; or the letter was discarded meanwhile.
    if (outcome.type === 'beaten') {
      return compareVersions(outcome.by, record) === 0 ? record : null;
    }
    const sent = written(outcome).record;
    // Its pop may be made before all replicas have confirmed: first it was asked for, then it popped.
    const asked: Asked = { action: 'redeliver', actor, tag: '', wallMs: Math.floor(wallMs) };
    noteChange(this.parts, sent, asked, letterSubject(this.parts.ids, letter));
    return sent;
  }

  async discard(namespace: string, id: TimerId, actor = ''): Promise<Version | null> {
    const known = this.parts.ids.read(namespace, id);
    const letter = await this.letter(namespace, known);
    if (letter === null) return null;
    const { factor } = letter;
    const asked: Asked = { action: 'discard', actor, tag: '' };
    const subject = letterSubject(this.parts.ids, letter);
    return (await this.end(namespace, { ...known, factor }, asked, subject)).version;
  }

  /** `id`: as members know it. */
  private async letter(namespace: string, id: TimerId): Promise<TimerRecord | null> {
    const record = await this.changes.read(id);
    return record?.state === State.dead && record.namespace === namespace ? record : null;
  }

  private idParts({ hi, lo, factor, replicas }: TimerRecord): TimerId {
    const bloom = this.parts.view().bloomOf(replicas);
    return { hi, lo, factor, bloomHi: bloom.hi, bloomLo: bloom.lo };
  }

  private async page(query: RecordQuery): Promise<Page<TimerView>> {
    const { ids } = this.parts;
    const { namespace } = query;
    const from = ids.readCursor(namespace, query.cursor);
    const { items, cursor, missing } = await this.records({ ...query, cursor: from });
    // Letters have their own number, and tell the reason themselves.
    const details = await this.details(namespace, query.state === 'dead' ? [] : items);
    return {
      items: await this.views(items, details),
      cursor: ids.cursor(namespace, cursor),
      missing,
    };
  }

  /** In as many turns as it takes. */
  private async views(
    records: readonly TimerRecord[],
    details: ReadonlyMap<string, string>,
  ): Promise<readonly TimerView[]> {
    const { ids, replica } = this.parts;
    const { scans } = replica;
    const at = this.steady();
    const views: TimerView[] = [];
    for (const record of records) {
      if (scans.isFull) await scans.next();
      scans.count(record);
      views.push(timerView(record, ids, at, details));
    }
    return views;
  }

  private async records(query: RecordQuery): Promise<Page<TimerRecord>> {
    const names = this.membersAsked();
    const { records, cursor, missing } = await listEverywhere(this.parts, askOf(query), names);
    return { items: records, cursor, missing: this.membersOf(missing) };
  }

  private details(
    namespace: string,
    records: readonly TimerRecord[],
  ): Promise<ReadonlyMap<string, string>> {
    return lastDetails(this.parts, namespace, records, this.membersAsked());
  }

  private membersOf(names: readonly string[]): readonly string[] {
    return membersOf(this.parts, names);
  }

  private membersAsked(): readonly string[] {
    return membersAsked(this.parts);
  }
}

/** The question as members ask each other. */
function askOf(query: RecordQuery): ListAsk {
  const { namespace, tag, state, limit } = query;
  return {
    namespace,
    tag,
    state,
    limit,
    cursor: query.cursor ?? '',
    holder: query.member ?? '',
    role: query.role ?? '',
    receiver: query.receiver ?? '',
    failure: query.failure ?? '',
    tagPrefix: query.tagPrefix ?? '',
  };
}
