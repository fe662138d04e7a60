/**
 * One client request end to end. Any member coordinates any request: number and version → place → write to all
 * replicas, old and new → answer when they have confirmed. Holds no timer state of its own.
 */
import { createHash } from 'node:crypto';
import {
  CarillonError,
  type Clock,
  type Definition,
  encodeDefinition,
  type NumberSource,
  State,
  type TimerId,
  type TimerRecord,
  type Version,
  type VersionClock,
} from '@carillon/core';
import type {
  AttemptsView,
  ClusterView,
  Copies,
  ListQuery,
  Page,
  SetOutcome,
  SetRequest,
  TimerService,
  TimerView,
} from './api/service.ts';
import { desiredReplicas } from './cluster/desired.ts';
import type { View } from './cluster/view.ts';
import type { Metrics } from './metrics.ts';
import { abreast } from './replication/abreast.ts';
import { type AttemptsParts, gatherAttempts } from './replication/attempts.ts';
import type { Peers } from './replication/peers.ts';
import { listEverywhere, type ReadParts, readNewest } from './replication/read.ts';
import { entomb, firstPop, type Instant } from './replication/schedule.ts';
import { idOf, timerView } from './replication/timer-view.ts';
import { type WriteParts, type WriteResult, write } from './replication/write.ts';
import { confirmed, isTaken, noCopies, type Written } from './replication/written.ts';
import type { Numbered } from './replication/wire.ts';

/** Of a list: whoever holds the timers. */
const anywhere = { member: null, role: null } as const;
/** A client's request that meets a newer version goes again with a higher one; this often at most. */
const triesMax = 8;
/** Timers of one batch under way at once: two frames to a peer. */
const abreastMax = 1000;

export interface CoordinatorParts extends ReadParts, WriteParts, AttemptsParts {
  readonly self: string;
  readonly clock: Clock;
  readonly peers: Peers | null;
  readonly view: () => View;
  readonly metrics: Metrics;
  readonly versions: VersionClock;
  readonly numbers: Pick<NumberSource, 'next'>;
  readonly factorDefault: number;
  readonly instant: () => Instant;
  /** Why no new timer can be taken right now; null when one can. */
  readonly refuseSet: () => CarillonError | null;
  readonly cluster: () => ClusterView;
  readonly drain: () => Promise<void>;
  readonly resync: () => void;
  readonly unready: () => string | null;
}

export class Coordinator implements TimerService {
  private readonly parts: CoordinatorParts;

  constructor(parts: CoordinatorParts) {
    this.parts = parts;
  }

  set(request: SetRequest): Promise<SetOutcome> {
    const at = this.parts.instant();
    return new Promise((resolve, reject) => this.begin(request, at, resolve, reject));
  }

  setMany(requests: readonly SetRequest[]): Promise<readonly SetOutcome[]> {
    const at = this.parts.instant();
    return new Promise((resolve, reject) => {
      const outcomes: SetOutcome[] = [];
      const one = (i: number, done: () => void): void => {
        const keep = (outcome: SetOutcome): void => {
          outcomes[i] = outcome;
          done();
        };
        this.begin(requests[i] as SetRequest, at, keep, reject);
      };
      abreast({ count: requests.length, countMax: abreastMax }, one, () => resolve(outcomes));
    });
  }

  async cancel(namespace: string, id: TimerId): Promise<{ id: string; copies: Copies }> {
    const { metrics } = this.parts;
    const end = (version: Version): TimerRecord => {
      const at = this.parts.instant();
      const record = this.draft({ namespace, factor: id.factor, number: id, version, at });
      return entomb(record, false, at);
    };
    try {
      const { record, copies } = await this.write(end, id);
      metrics.cancels.add('confirmed');
      return { id: idOf(record, this.parts.view()), copies };
    } catch (error) {
      metrics.cancels.add('refused');
      // Somebody else's timer is none of this client's: there was nothing of its own to cancel, as if there were none.
      if (!(error instanceof CarillonError) || error.code !== 'not_found') throw error;
      const { factor, ...number } = id;
      const record = this.draft({
        namespace,
        factor,
        number,
        version: { versionMs: 0, versionTie: 0 },
        at: this.parts.instant(),
      });
      const wanted = record.replicas.length;
      return { id: idOf(record, this.parts.view()), copies: { have: wanted, wanted } };
    }
  }

  async get(namespace: string, id: TimerId): Promise<TimerView | null> {
    const record = await this.read(id);
    if (record === null || record.namespace !== namespace) return null;
    if (record.state === State.tombstone) return null;
    return timerView(record, this.parts.view(), this.parts.instant());
  }

  list(query: ListQuery): Promise<Page<TimerView>> {
    return this.page({ ...query, state: query.state ?? '' });
  }

  deadLetters(query: Pick<ListQuery, 'namespace' | 'limit' | 'cursor'>): Promise<Page<TimerView>> {
    return this.page({ ...query, ...anywhere, state: 'dead', tag: null });
  }

  attempts(namespace: string, id: TimerId): Promise<AttemptsView> {
    return gatherAttempts(this.parts, namespace, id, this.everybody());
  }

  async cancelByTag(namespace: string, tag: string): Promise<number> {
    let count = 0;
    let cursor: string | null = null;
    do {
      const query = { ...anywhere, namespace, tag, state: '', limit: 500, cursor };
      const page: Page<TimerRecord> = await this.records(query);
      if (page.missing.length > 0) {
        throw new CarillonError(
          'overloaded',
          `Not all members answered, so some timers with the tag may remain; ${count} were cancelled. Try again.`,
        );
      }
      await Promise.all(page.items.map((record) => this.cancel(namespace, this.idParts(record))));
      count += page.items.length;
      ({ cursor } = page);
    } while (cursor !== null);
    return count;
  }

  async redeliver(namespace: string, id: TimerId): Promise<boolean> {
    const letter = await this.deadLetter(namespace, id);
    if (letter === null) return false;
    const { nowMs } = this.parts.instant();
    const revive = (version: Version): TimerRecord => ({
      ...letter,
      ...version,
      state: State.live,
      startMs: nowMs,
      dueMs: nowMs,
      retryMs: nowMs,
      gapMs: 0,
    });
    await this.write(revive, id);
    return true;
  }

  async discard(namespace: string, id: TimerId): Promise<boolean> {
    if ((await this.deadLetter(namespace, id)) === null) return false;
    await this.cancel(namespace, id);
    return true;
  }

  cluster(): ClusterView {
    return this.parts.cluster();
  }

  drain(): Promise<void> {
    return this.parts.drain();
  }

  resync(): void {
    this.parts.resync();
  }

  unready(): string | null {
    return this.parts.unready();
  }

  /** Gives a new record a place of its own: dead letters come this way. */
  keep(record: TimerRecord, done: (kept: boolean) => void): void {
    const { peers, view } = this.parts;
    const silent = (name: string): boolean => peers?.silent(name) ?? false;
    const replicas = desiredReplicas(view(), record, record.factor, silent);
    const request = { record: { ...record, replicas }, mode: 'any', former: [] } as const;
    write(this.parts, request, ({ type }) => done(type === 'confirmed' || type === 'have'));
  }

  /** Calls `reject` only for what is not the client's mistake. */
  private begin(
    request: SetRequest,
    at: Instant,
    done: (outcome: SetOutcome) => void,
    reject: (error: unknown) => void,
  ): void {
    const { metrics } = this.parts;
    const finish = (outcome: SetOutcome): void => {
      const made = request.id === null ? 'created' : 'replaced';
      metrics.sets.add(outcome.ok ? made : 'refused');
      done(outcome);
    };
    const failed = (error: unknown): void => {
      if (error instanceof CarillonError) finish({ ok: false, error });
      else reject(error);
    };
    try {
      const refusal = this.parts.refuseSet();
      if (refusal !== null) throw refusal;
      const factor = request.factor ?? request.id?.factor ?? this.parts.factorDefault;
      checkFactor(request.id, factor);
      // A batch has hundreds of new timers, so these come without a promise each.
      if (isNew(request)) this.createNew({ request, factor, at, tries: triesMax }, finish, failed);
      else this.setKnown(request, factor).then(finish, failed);
    } catch (error) {
      failed(error);
    }
  }

  /** A number that somebody else has used already (two members under one number) is not a reason to fail. */
  private createNew(
    asked: { request: SetRequest; factor: number; at: Instant; tries: number },
    finish: (outcome: SetOutcome) => void,
    failed: (error: unknown) => void,
  ): void {
    const { request, factor, at, tries } = asked;
    const { definition, namespace } = request;
    const number = this.newNumber();
    const base = { namespace, factor, number, version: this.stamp(at), at };
    const record = this.setRecord(base, definition, encodeDefinition(definition));
    write(this.parts, { record, mode: 'create', former: [] }, (result) => {
      try {
        if (!isTaken(result)) finish(this.setDone(confirmed(result), definition));
        else if (tries > 1) this.createNew({ ...asked, tries: tries - 1 }, finish, failed);
        else failed(noCopies());
      } catch (error) {
        failed(error);
      }
    });
  }

  /** Under an id, or under an idempotency key: there may be something already. */
  private async setKnown(request: SetRequest, factor: number): Promise<SetOutcome> {
    const { id, namespace, idempotencyKey, definition } = request;
    if (id === null) {
      const idempotent = { ...definition, idempotent: true };
      return this.setOnce(namespace, idempotencyKey ?? '', idempotent, factor);
    }
    const body = encodeDefinition(definition);
    const record = (version: Version): TimerRecord => {
      const at = this.parts.instant();
      return this.setRecord({ namespace, factor, number: id, version, at }, definition, body);
    };
    return this.setDone(await this.write(record, id), definition);
  }

  private setDone({ record, copies }: Written, definition: Definition): SetOutcome {
    const view = this.parts.view();
    const timer = (): TimerView => timerView(record, view, this.parts.instant(), definition);
    return { ok: true, id: idOf(record, view), copies, timer };
  }

  /** The same key gives the same timer: its number follows from the key, so both requests meet at its replicas. */
  private async setOnce(
    namespace: string,
    key: string,
    definition: Definition,
    factor: number,
  ): Promise<SetOutcome> {
    const number = numberFromKey(namespace, key);
    const body = encodeDefinition(definition);
    const known = await this.read({ ...number, bloomHi: 0, bloomLo: 0, factor });
    if (known !== null) return this.repeated(namespace, known, definition, body);
    const at = this.parts.instant();
    const base = { namespace, factor, number, version: this.stamp(at), at };
    const result = await this.once(this.setRecord(base, definition, body), 'create', []);
    if (!isTaken(result)) return this.setDone(confirmed(result), definition);
    const raced = await this.read({ ...number, bloomHi: 0, bloomLo: 0, factor });
    if (raced === null) throw noCopies();
    return this.repeated(namespace, raced, definition, body);
  }

  private async repeated(
    namespace: string,
    known: TimerRecord,
    definition: Definition,
    body: Uint8Array,
  ): Promise<SetOutcome> {
    if (known.namespace !== namespace) {
      throw new CarillonError('conflict', 'This Idempotency-Key cannot be used; use another one.');
    }
    this.parts.metrics.sets.add('repeated');
    if (!sameBytes(known.body, body)) {
      throw new CarillonError(
        'key_reused',
        'This Idempotency-Key was used within the last day with another body; use a new key for another timer.',
      );
    }
    return this.setDone(await this.confirm(known), definition);
  }

  /** Of a record that is there already: how many replicas really have it. Brings it to those that do not. */
  private async confirm(known: TimerRecord): Promise<Written> {
    let newest: TimerRecord | null = known;
    for (let i = 0; i < triesMax && newest !== null; i++) {
      const result = await this.once(newest, 'any', []);
      if (result.type !== 'have') return confirmed(result);
      // It popped meanwhile, or somebody changed it.
      newest = await this.read({ ...known, bloomHi: 0, bloomLo: 0 });
    }
    throw noCopies();
  }

  /** Writes a record for a client: where a newer version is met, again with a version above it. */
  private async write(record: (version: Version) => TimerRecord, id: TimerId): Promise<Written> {
    const former = this.parts.view().heldBy({ hi: id.bloomHi, lo: id.bloomLo });
    for (let i = 0; i < triesMax; i++) {
      const result = await this.once(record(this.stamp(this.parts.instant())), 'any', former);
      if (result.type !== 'have') return confirmed(result);
      this.parts.versions.observe(result.progress);
    }
    throw noCopies();
  }

  private once(
    record: TimerRecord,
    mode: 'any' | 'create',
    former: readonly string[],
  ): Promise<WriteResult> {
    return new Promise((resolve) => write(this.parts, { record, mode, former }, resolve));
  }

  private stamp({ wallMs }: Instant): Version {
    const { versions, view, self } = this.parts;
    // By the cluster's clock, not the member's own: in a net-split versions are all there is to order requests by.
    return versions.stamp(Math.floor(wallMs), view().numberOf(self));
  }

  private newNumber(): Numbered {
    const { numbers, clock, view, self } = this.parts;
    return numbers.next(clock.wall(), view().numberOf(self));
  }

  private setRecord(base: Base, definition: Definition, body: Uint8Array): TimerRecord {
    const pop = firstPop(definition.timing, base.at);
    if (pop === null) {
      throw new CarillonError(
        'bad_request',
        'This timer would never pop: its last possible pop lies in the past.',
        {
          pointer: '/timing',
        },
      );
    }
    return { ...this.draft(base), body, dueMs: pop.dueMs, retryMs: pop.dueMs, gapMs: pop.gapMs };
  }

  private draft(base: Base): TimerRecord {
    const { view, peers } = this.parts;
    const { namespace, factor, number, version } = base;
    const { hi, lo } = number;
    const { nowMs } = base.at;
    const silent = (name: string): boolean => peers?.silent(name) ?? false;
    return {
      hi,
      lo,
      namespace,
      factor,
      versionMs: version.versionMs,
      versionTie: version.versionTie,
      state: State.live,
      sequence: 0,
      attempt: 0,
      startMs: nowMs,
      dueMs: nowMs,
      gapMs: 0,
      retryMs: nowMs,
      outcome: 0,
      replicas: desiredReplicas(view(), number, factor, silent),
      body: new Uint8Array(0),
    };
  }

  private read(id: TimerId): Promise<TimerRecord | null> {
    const { view } = this.parts;
    const names = new Set([
      ...view().place(id.hi, id.lo, id.factor),
      ...view().heldBy({ hi: id.bloomHi, lo: id.bloomLo }),
    ]);
    return readNewest(this.parts, id, [...names]);
  }

  private async deadLetter(namespace: string, id: TimerId): Promise<TimerRecord | null> {
    const record = await this.read(id);
    return record?.state === State.dead && record.namespace === namespace ? record : null;
  }

  private idParts({ hi, lo, factor, replicas }: TimerRecord): TimerId {
    const bloom = this.parts.view().bloomOf(replicas);
    return { hi, lo, factor, bloomHi: bloom.hi, bloomLo: bloom.lo };
  }

  private async page(
    query: Omit<ListQuery, 'state'> & { readonly state: string },
  ): Promise<Page<TimerView>> {
    const { items, cursor, missing } = await this.records(query);
    const view = this.parts.view();
    const at = this.parts.instant();
    return { items: items.map((record) => timerView(record, view, at)), cursor, missing };
  }

  private async records(
    query: Omit<ListQuery, 'state'> & { readonly state: string },
  ): Promise<Page<TimerRecord>> {
    const { member, role, cursor: from, ...rest } = query;
    const ask = { ...rest, cursor: from ?? '', holder: member ?? '', role: role ?? '' } as const;
    const { records, cursor, missing } = await listEverywhere(this.parts, ask, this.everybody());
    return { items: records, cursor, missing };
  }

  /** All members of the view, and this one whatever the view says. */
  private everybody(): readonly string[] {
    const { self, view } = this.parts;
    return [...new Set([self, ...view().members.map(({ name }) => name)])];
  }
}

/** What every record of a client's request starts from. */
interface Base {
  readonly namespace: string;
  readonly factor: number;
  readonly number: Numbered;
  readonly version: Version;
  readonly at: Instant;
}

function isNew({ id, idempotencyKey }: SetRequest): boolean {
  return id === null && idempotencyKey === null;
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
  const digest = createHash('sha256')
    .update(JSON.stringify([namespace, key]))
    .digest();
  return { hi: digest.readUInt32LE(0), lo: digest.readUInt32LE(4) };
}

function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
