/**
 * Sets: new timers, timers under an id, and timers under an idempotency key. The same key gives the same timer for a
 * day, whichever member is asked.
 */
import { hash } from 'node:crypto';
import {
  CarillonError,
  encodeDefinition,
  type TimerId,
  type TimerRecord,
  type Timing,
  type Version,
} from '@carillon/core';
import type { ChangeOutcome, SetOutcome, SetRequest, SetService, TimerView } from './service.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { concurrently } from '../replication/concurrently.ts';
import { isDigest, isOfRequest } from '../timer/request-digest.ts';
import { firstPop, type Instant } from '../timer/schedule.ts';
import { SetsAlone } from './set-alone.ts';
import { timerView } from './timer-view.ts';
import { isTaken, noCopies, type Outcome, type Written, written } from './outcome.ts';
import type { Action } from '../history/entry.ts';
import { askedMs, noteChange, type NotingParts } from './noting.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import { type Content, guarded, triesMax, type RecordChanges, type ChangeParts } from './change.ts';

/** Timers of one batch under way at once: two frames to a peer. */
const concurrentMax = 1000;

export interface SetParts extends ChangeParts, NotingParts {
  readonly metrics: Metrics;
  readonly factorDefault: number;
  /** Why no such timer can be taken right now; null when one can. */
  readonly refuseSet: (namespace: string, timing: Timing) => CarillonError | null;
}

export class Sets implements SetService {
  private readonly parts: SetParts;
  private readonly changes: RecordChanges;

  constructor(parts: SetParts, changes: RecordChanges) {
    this.parts = parts;
    this.changes = changes;
  }

  set(request: SetRequest): Promise<SetOutcome> {
    const at = this.parts.instant();
    return new Promise((resolve, reject) => this.begin(request, at, resolve, reject));
  }

  setMany(requests: readonly SetRequest[]): Promise<readonly ChangeOutcome[]> {
    const at = this.parts.instant();
    return new Promise((resolve, reject) => {
      const outcomes: ChangeOutcome[] = [];
      const alone = this.parts.peers === null ? new SetsAlone(this.parts) : null;
      // The rest goes one by one: to other members, and timers that were refused or are not as expected here.
      const rest: { readonly index: number; readonly request: SetRequest }[] = [];
      requests.forEach((request, index) => {
        const isStored = alone !== null && this.storedAlone(alone, { index, request, at });
        if (!isStored) rest.push({ index, request });
      });
      const one = (i: number, done: () => void): void => {
        const { index, request } = rest[i] as (typeof rest)[number];
        const keep = (outcome: ChangeOutcome): void => {
          outcomes[index] = outcome;
          done();
        };
        this.begin(request, at, keep, reject);
      };
      let left = alone === null ? 1 : 2;
      const finished = (): void => {
        if (--left === 0) resolve(outcomes);
      };
      alone?.finish(outcomes, ({ created, replaced, refused }) => {
        this.parts.metrics.sets.add('created', created);
        this.parts.metrics.sets.add('replaced', replaced);
        this.parts.metrics.sets.add('refused', refused);
        finished();
      });
      concurrently({ count: rest.length, countMax: concurrentMax }, one, finished);
    });
  }

  /** False: nothing was stored, and the request has to go the usual way, which tells why. */
  private storedAlone(alone: SetsAlone, placed: Placed): boolean {
    const { request, at } = placed;
    const { namespace, id, definition, runs } = request;
    if (runs !== undefined || this.parts.refuseSet(namespace, definition.timing) !== null)
      return false;
    const pop = firstPop(definition.timing, at);
    if (pop === null) return false;
    return id === null
      ? this.createdAlone(alone, placed, pop)
      : this.replacedAlone(alone, placed, pop, id);
  }

  private createdAlone(alone: SetsAlone, { index, request, at }: Placed, pop: Pop): boolean {
    const { namespace, definition, idempotencyKey: key, actor = '' } = request;
    const factor = request.factor ?? this.parts.factorDefault;
    const keyed = key === null ? null : this.keyed(request, factor, key);
    const number = keyed?.id ?? this.changes.newNumber(namespace);
    const body = keyed?.body ?? encodeDefinition(definition);
    const base = { namespace, factor, number, version: this.changes.stamp(at), at };
    const { dueMs, gapMs } = pop;
    return alone.create(index, this.changes.draft(base, { dueMs, gapMs, body }), actor);
  }

  private replacedAlone(
    alone: SetsAlone,
    { index, request, at }: Placed,
    { dueMs, gapMs }: Pop,
    id: TimerId,
  ): boolean {
    const { namespace, definition, actor = '' } = request;
    const { factor } = id;
    if (request.factor !== null && request.factor !== factor) return false;
    const number = this.parts.ids.number(namespace, id);
    const body = encodeDefinition(definition);
    const base = { namespace, factor, number, version: this.changes.stamp(at), at };
    return alone.replace(index, this.changes.draft(base, { dueMs, gapMs, body }), actor);
  }

  /** Calls `reject` only for errors that are not the client's mistake. */
  private begin(
    request: SetRequest,
    at: Instant,
    done: (outcome: SetOutcome) => void,
    reject: (error: unknown) => void,
  ): void {
    const { metrics } = this.parts;
    // A closure that waits for the disk keeps hold of as little as it can: not of the request.
    const made = request.id === null ? 'created' : 'replaced';
    const { runs, namespace, actor = '' } = request;
    const finish = (outcome: SetOutcome): void => {
      metrics.sets.add(outcome.ok ? made : 'refused');
      if (runs !== undefined && outcome.ok) this.noteRun(namespace, runs, actor, outcome.version);
      done(outcome);
    };
    const failed = (error: unknown): void => {
      if (error instanceof CarillonError) finish({ ok: false, error });
      else reject(error);
    };
    try {
      const refusal = this.parts.refuseSet(request.namespace, request.definition.timing);
      if (refusal !== null) throw refusal;
      const factor = request.factor ?? request.id?.factor ?? this.parts.factorDefault;
      checkFactor(request.id, factor);
      // Batches have hundreds, so the common ones come without a promise each.
      if (request.idempotencyKey !== null && request.id === null) {
        this.setOnce(this.keyed(request, factor, request.idempotencyKey), finish, failed);
      } else if (request.id === null) {
        this.createNew(fresh(request, factor, at), triesMax, finish, failed);
      } else this.replace(request, factor, finish, failed);
    } catch (error) {
      failed(error);
    }
  }

  /** A number that is taken already (two members drew from one range) is no reason to fail. */
  private createNew(
    asked: Fresh,
    tries: number,
    finish: (outcome: SetOutcome) => void,
    failed: (error: unknown) => void,
  ): void {
    const { namespace, factor, at, content } = asked;
    const number = this.changes.newNumber(namespace);
    const version = this.changes.stamp(at);
    const record = this.changes.draft({ namespace, factor, number, version, at }, content);
    const tried = (outcome: Outcome): void => {
      if (!isTaken(outcome)) finish(this.changed(written(outcome), 'set', asked.actor));
      else if (tries > 1) this.createNew(asked, tries - 1, finish, failed);
      else throw noCopies(version);
    };
    this.changes.write({ record, mode: 'create', former: [] }, guarded(tried, failed));
  }

  private replace(
    request: SetRequest,
    factor: number,
    finish: (outcome: SetOutcome) => void,
    failed: (error: unknown) => void,
  ): void {
    const { namespace, definition } = request;
    const id = this.parts.ids.read(namespace, request.id as TimerId);
    const body = encodeDefinition(definition);
    const { timing } = definition;
    const record = (version: Version): TimerRecord => {
      const at = this.parts.instant();
      const base = { namespace, factor, number: id, version, at };
      return this.changes.draft(base, contentOf(timing, at, body));
    };
    const { actor = '' } = request;
    const done = (result: Written): void => finish(this.changed(result, 'replace', actor));
    this.changes.tryChange({ record, id }, done, failed);
  }

  /** The replicas confirmed a change of this request. */
  private changed(result: Written, action: Action, actor: string): SetOutcome {
    const { record } = result;
    const wallMs = askedMs(record, this.parts.instant().wallMs);
    noteChange(this.parts, record, { action, actor, tag: '', wallMs });
    return this.setDone(result);
  }

  /** Its callback was made by a timer of its own. */
  private noteRun(namespace: string, id: TimerId, actor: string, version: Version): void {
    const { versionMs, versionTie } = version;
    const { hi, lo } = this.parts.ids.number(namespace, id);
    const record = { namespace, hi, lo, versionMs, versionTie };
    noteChange(this.parts, record, { action: 'run', actor, tag: '' });
  }

  private setDone({ record, copies }: Written): SetOutcome {
    const { ids, instant } = this.parts;
    const timer = (): TimerView => timerView(record, ids, instant());
    return { ok: true, id: ids.of(record), copies, version: record, timer };
  }

  /** The same key gives the same timer: its number follows from the key, so both requests meet at its replicas. */
  private keyed(request: SetRequest, factor: number, key: string): Keyed {
    const { namespace, definition, actor = '' } = request;
    const { hi, lo } = this.parts.ids.number(namespace, numberFromKey(namespace, key));
    const kept = definition.idempotent ? definition : { ...definition, idempotent: true };
    const id = { hi, lo, bloomHi: 0, bloomLo: 0, factor };
    return { namespace, id, timing: definition.timing, body: encodeDefinition(kept), actor };
  }

  private setOnce(
    asked: Keyed,
    finish: (outcome: SetOutcome) => void,
    failed: (error: unknown) => void,
  ): void {
    const read = (known: TimerRecord | null): void => {
      if (known === null) this.createOnce(asked, finish, failed);
      else this.repeated(asked, known).then(finish, failed);
    };
    this.changes.readThen(asked.id, guarded(read, failed));
  }

  /** Throws CarillonError. */
  private createOnce(
    asked: Keyed,
    finish: (outcome: SetOutcome) => void,
    failed: (error: unknown) => void,
  ): void {
    const { namespace, id, timing, body } = asked;
    const at = this.parts.instant();
    const version = this.changes.stamp(at);
    const base = { namespace, factor: id.factor, number: id, version, at };
    const record = this.changes.draft(base, contentOf(timing, at, body));
    const tried = (outcome: Outcome): void => {
      if (isTaken(outcome)) this.raced(asked, version).then(finish, failed);
      else finish(this.changed(written(outcome), 'set', asked.actor));
    };
    this.changes.write({ record, mode: 'create', former: [] }, guarded(tried, failed));
  }

  /** Another request with the same key came first. */
  private async raced(asked: Keyed, version: Version): Promise<SetOutcome> {
    const known = await this.changes.read(asked.id);
    if (known === null) throw noCopies(version);
    return this.repeated(asked, known);
  }

  private async repeated({ namespace, body }: Keyed, known: TimerRecord): Promise<SetOutcome> {
    if (known.namespace !== namespace) {
      throw new CarillonError('conflict', 'This Idempotency-Key cannot be used; use another one.');
    }
    this.parts.metrics.sets.add('repeated');
    if (!isOfRequest(known.body, body)) {
      throw new CarillonError(
        'key_reused',
        'This Idempotency-Key was used within the last day with another body; use a new key for another timer.',
      );
    }
    const { record, copies } = await this.confirm(known);
    // An ended timer has no definition any more: the one of this request is the same.
    return this.setDone({ record: isDigest(record.body) ? { ...record, body } : record, copies });
  }

  /** Counts the replicas that really have a record, and brings it to the others. */
  private async confirm(known: TimerRecord): Promise<Written> {
    let newest: TimerRecord | null = known;
    for (let i = 0; i < triesMax && newest !== null; i++) {
      const outcome = await this.changes.tryWrite({ record: newest, mode: 'any', former: [] });
      if (outcome.type !== 'beaten') return written(outcome);
      // It popped meanwhile, or another client changed it.
      newest = await this.changes.read({ ...known, bloomHi: 0, bloomLo: 0 });
    }
    throw noCopies(known);
  }
}

type Pop = NonNullable<ReturnType<typeof firstPop>>;

/** One of many requests. */
interface Placed {
  readonly index: number;
  readonly request: SetRequest;
  readonly at: Instant;
}

/** A timer whose number follows from its idempotency key. */
interface Keyed {
  readonly namespace: string;
  readonly id: TimerId;
  readonly timing: Timing;
  readonly body: Uint8Array;
  readonly actor: string;
}

/** A new timer, ready to be given a number. */
interface Fresh {
  readonly namespace: string;
  readonly factor: number;
  readonly at: Instant;
  readonly content: Content;
  readonly actor: string;
}

function fresh(request: SetRequest, factor: number, at: Instant): Fresh {
  const { namespace, definition, actor = '' } = request;
  const content = contentOf(definition.timing, at, encodeDefinition(definition));
  return { namespace, factor, at, content, actor };
}

/** Throws CarillonError. */
function contentOf(timing: Timing, at: Instant, body: Uint8Array): Content {
  const pop = firstPop(timing, at);
  if (pop !== null) return { dueMs: pop.dueMs, gapMs: pop.gapMs, body };
  const why = 'This timer would never pop: its last possible pop lies in the past.';
  throw new CarillonError('bad_request', why, { pointer: '/timing' });
}

function checkFactor(id: TimerId | null, factor: number): void {
  if (id === null || id.factor === factor) return;
  throw new CarillonError(
    'bad_request',
    `The replication factor is ${factor}, but the id says ${id.factor}; leave it out or make them equal.`,
    { pointer: '/reliability/replication-factor' },
  );
}

function numberFromKey(namespace: string, key: string): Numbered {
  // As JSON.stringify of both in a list, which takes twice as long.
  const text = `[${JSON.stringify(namespace)},${JSON.stringify(key)}]`;
  // As a text with a character for each byte: a buffer takes four times as long to make.
  const digest = hash('sha256', text, 'binary');
  return { hi: wordAt(digest, 0), lo: wordAt(digest, 4) };
}

/** Four bytes, the lowest first. */
function wordAt(digest: string, at: number): number {
  const byte = (i: number): number => digest.charCodeAt(at + i) << (8 * i);
  return (byte(0) | byte(1) | byte(2) | byte(3)) >>> 0;
}
