/**
 * A ring: members that share locks under one prefix in etcd. Wires the parts together and is the only
 * file that knows them all: etcd client → mirror → membership → slots → locks.
 *
 * A lock here is advisory unless the protected resource checks the token: a process that is stopped in the
 * middle of its work does not know that it was. See docs/lock-ring.md.
 */
import type { Cancel, Clock, Log, Random } from '@carillon/core';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { DurableRecords } from './locks/durable.ts';
import {
  checkKey,
  checkListener,
  checkLockOptions,
  checkMemberOptions,
  shown,
} from './arguments.ts';
import { Emitter } from './emitter.ts';
import {
  type LossReason,
  NotLocalError,
  RingClosedError,
  RingConfigError,
  RingUsageError,
} from './errors.ts';
import type { Etcd } from './etcd/etcd.ts';
import { EtcdClient, type EtcdClientOptions } from './etcd/etcd-client.ts';
import type { Lock } from './locks/lock.ts';
import { LockTable, type WaitOptions } from './locks/lock-table.ts';
import type { Member, MemberView } from './member.ts';
import { defaultTtlMs, Membership, type MemberEvent } from './membership.ts';
import { type HashFunction, rendezvous, type RingPlacement, successor } from './placements.ts';
import { reach } from './reach.ts';
import { agreeOnConfig, checkOptions, type RingConfig } from './ring-config.ts';
import type { Slot } from './slots/slot.ts';
import { Slots } from './slots/slots.ts';
import { WaitingRecords } from './locks/waiting.ts';
import { wishFor } from './wishes.ts';

export interface RingOptions {
  /** Addresses of one etcd cluster, such as `http://127.0.0.1:2379` or `127.0.0.1:2379`. */
  readonly endpoints?: readonly string[];
  /** The ring's name: everything in etcd is under `<prefix>/`. Rings with different prefixes share nothing. */
  readonly prefix: string;
  /**
   * `'rendezvous'` (default), `'successor'` (the classic ring with crc32), a hash for the classic ring, or one of your
   * own.
   */
  readonly placement?: 'rendezvous' | 'successor' | HashFunction | RingPlacement;
  /** Default: the number of the ring that is there, 1024 for a new one. Fixed for the life of the prefix. */
  readonly slots?: number;
  /**
   * TTL of the members' leases, default 5000. Shorter: faster take-over after a crash, less patience with a slow etcd.
   */
  readonly ttlMs?: number;
  /** How long before its lease could end a lock counts as lost; default max(300, 10 %). 0 is unsafe. */
  readonly marginMs?: number;
  /** How long holders may take to finish when a key moves; default 10 000. Infinity: as long as they like. */
  readonly drainMs?: number;
  readonly tls?: NonNullable<EtcdClientOptions['tls']>;
  readonly auth?: NonNullable<EtcdClientOptions['auth']>;
  readonly log?: Log;
  /** The ports, for tests: another etcd, another clock. */
  readonly etcd?: Etcd;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface LockOptions extends WaitOptions {
  /**
   * Also show the lock, and the wait for it, in etcd: for `ringStatus` and people with etcdctl. Costs a transaction
   * each way.
   */
  readonly durable?: boolean | undefined;
}

export interface MemberOptions {
  /** Relative share of the keys, default 1. */
  readonly weight?: number;
  readonly labels?: Record<string, string>;
  /**
   * The member is here for this key alone: its process gets the key's slot before all members that share the keys, and
   * no other. So a process that comes for one lock, such as `carillon lock`, contends with a service that has members
   * of its own.
   */
  readonly onlyFor?: string;
  /** How long to wait for a former holder of the id to go, before MemberTakenError. 0: not at all. */
  readonly waitMs?: number;
}

/** A member, and where it sits among the slots: null where placement knows no positions. */
export interface RingMember extends Member {
  readonly position: number | null;
}

export interface RingView extends MemberView {
  readonly members: readonly RingMember[];
}

export interface SlotEvent {
  readonly slot: number;
  readonly member: string;
  /** Why it was given up; absent while it is not. */
  readonly reason?: LossReason;
}

export interface RingEvents {
  view: RingView;
  member: MemberEvent;
  /** A slot is this process's now, or went to another of its members: the locks in it stay held. */
  gained: SlotEvent;
  /** A slot is moving away: holders are asked to finish. */
  revoking: SlotEvent;
  /** A slot is no longer this process's. */
  released: SlotEvent;
  error: Error;
}

const eventNames = [
  'view',
  'member',
  'gained',
  'revoking',
  'released',
  'error',
] as const satisfies (keyof RingEvents)[];

/**
 * For an application that gives no log. One line goes to standard error all the same: the names of held locks that
 * `close` waits for.
 */
const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const withoutMember =
  'No member was added here, and only members are given keys: call addMember first.';
const noOptions: LockOptions = {};
/** A lease that was not given back ends a little after its TTL. */
const takeOverSlackMs = 1000;
/** Names of locks in one line of the log. */
const namedMax = 10;

export class Ring {
  private readonly etcd: Etcd;
  private readonly drainMs: number;
  private readonly membership: Membership;
  private readonly placement: RingPlacement;
  private readonly slots: Slots;
  private readonly locks: LockTable;
  private readonly durable: DurableRecords;
  private readonly waiting: WaitingRecords;
  private readonly emitter: Emitter<RingEvents>;
  private readonly takeOverMs: number;
  private readonly log: Log;
  private closing: Promise<void> | null = null;

  private constructor(options: RingOptions, parts: RingParts) {
    const { etcd, clock, log, membership, placement, prefix, count } = parts;
    this.etcd = etcd;
    this.membership = membership;
    this.placement = placement;
    this.log = log;
    this.takeOverMs = (options.ttlMs ?? defaultTtlMs) + takeOverSlackMs;
    this.emitter = new Emitter((error) =>
      log.error('A listener of a ring threw.', {
        event: 'ring-listener-threw',
        reason: String(error),
      }),
    );
    this.durable = new DurableRecords(
      { etcd, clock, prefix },
      {
        removedWith: (slot, record) => this.slots.removedWith(slot, record),
        seen: (key) => membership.mirror.entries.get(key),
        forgetWait: (record) => this.waiting.forget(record),
      },
    );
    this.waiting = new WaitingRecords(etcd, prefix);
    const drainMs = options.drainMs ?? 10_000;
    this.drainMs = drainMs;
    this.slots = new Slots(
      { etcd, clock, log, membership, placement, prefix, count, drainMs },
      {
        onGained: (slot) => this.emitter.emit('gained', slotEvent(slot)),
        onMoved: (slot) => this.onMoved(slot),
        onGrantable: (slot) =>
          this.locks.onGrantable(slot, (key) => this.durable.isInherited(slot, key)),
        onRevoking: (slot) => {
          this.locks.onRevoking(slot);
          this.emitter.emit('revoking', slotEvent(slot));
        },
        onLost: (slot, reason) => {
          this.locks.onLost(slot, reason);
          this.emitter.emit('released', { ...slotEvent(slot), reason });
        },
        onDrainLimit: (slot, reason) => this.locks.onLost(slot, reason),
        onReleased: (slot, member) => this.emitter.emit('released', { slot: slot.index, member }),
        onError: (error) => this.emitter.emit('error', error),
      },
    );
    this.locks = new LockTable(clock, this.slots, () =>
      membership.local.size === 0 ? withoutMember : '',
    );
    this.follow(membership);
  }

  /** Opens the ring: afterwards the view is known. Rejects with RingConfigError or EtcdError. */
  static async open(options: RingOptions): Promise<Ring> {
    checkOptions(options);
    const clock = options.clock ?? new SystemClock();
    const random = options.random ?? new SystemRandom();
    const log = options.log ?? silent;
    const etcd = options.etcd ?? connect(options, clock, log);
    const prefix = `${options.prefix}/`;
    try {
      await reach(etcd, options.endpoints);
      const { slots: count, placement } = await agreeOnConfig(etcd, prefix, wantedConfig(options));
      const { ttlMs, marginMs } = options;
      const membership = await Membership.open({
        etcd,
        clock,
        random,
        log,
        prefix,
        ttlMs,
        marginMs,
      });
      return new Ring(options, { etcd, clock, log, membership, placement, prefix, count });
    } catch (error) {
      await etcd.close();
      throw error;
    }
  }

  /** All members of the ring. */
  get view(): RingView {
    return this.positioned(this.membership.view);
  }

  /** False while etcd's changes do not arrive: then the view may be old. */
  get connected(): boolean {
    return this.membership.mirror.connected;
  }

  /** Locks held and waited for in this process. */
  get lockCount(): number {
    return this.locks.count;
  }

  /** The member that placement gives the key to; null while the ring is empty. */
  ownerOf(key: string): string | null {
    return this.slots.targetOf(this.slotOf(key).index);
  }

  /** The slots this process may grant locks in right now. */
  ownedSlots(): number[] {
    return this.slots.all.filter((slot) => this.slots.grantable(slot)).map((slot) => slot.index);
  }

  on<Name extends keyof RingEvents>(
    name: Name,
    listener: (event: RingEvents[Name]) => void,
  ): Cancel {
    checkListener(name, listener, eventNames);
    return this.emitter.on(name, listener);
  }

  /**
   * Adds a member; its share of the keys moves to this process. The same id again: nothing happens. An id that is alive
   * elsewhere, or whose process was killed a moment ago: waits up to `waitMs` (default TTL + 1 s) for its lease to end.
   */
  async addMember(id: string, options: MemberOptions = {}): Promise<void> {
    this.assertOpen();
    checkMemberOptions(options);
    const { waitMs = this.takeOverMs, onlyFor, ...record } = options;
    const wish = onlyFor === undefined ? {} : wishFor(this.slotOf(onlyFor).index, record.labels);
    await this.membership.join(id, { ...record, ...wish, phase: 'active' }, waitMs);
  }

  /** Removes an own member: its holders are asked to finish, then its keys move. */
  async removeMember(id: string): Promise<void> {
    const member = this.membership.local.get(id);
    if (member === undefined) throw new NotLocalError(id);
    await this.slots.depart(member);
    // Two calls at once: only the first finds it still there.
    if (this.membership.local.get(id) !== member) throw new NotLocalError(id);
    await this.membership.leave(id);
    this.slots.departed(member);
  }

  /**
   * Waits until the key is one of this process's and free, then takes it. First come, first served. A
   * process without members waits as well: the key may become its own.
   */
  async lock(key: string, options: LockOptions = noOptions): Promise<Lock> {
    if (options !== noOptions) checkLockOptions(options);
    const slot = this.slotOf(key);
    if (options.durable !== true) return this.locks.lock(slot, key, options);
    for (;;) {
      const { lock, wait } = await this.waitVisibly(slot, key, options);
      if (await this.writeDurable(lock, wait)) return lock;
      // Lost before its record stood: wait for the next turn.
      await lock.release();
    }
  }

  /** The lock if it can be had at once, else null. */
  tryLock(key: string): Lock | null {
    return this.locks.tryLock(this.slotOf(key), key);
  }

  /** Gives back the lock that this process holds on the key, as its `release` does. False: it holds none. */
  async unlock(key: string): Promise<boolean> {
    const lock = this.locks.holder(this.slotOf(key), key);
    await lock?.release();
    return lock !== null;
  }

  /** Runs `fn` under the lock and always gives the lock back; the result or error of `fn` passes through. */
  async withLock<T>(
    key: string,
    fn: (lock: Lock) => T | Promise<T>,
    options: LockOptions = noOptions,
  ): Promise<T> {
    if (typeof fn !== 'function') {
      throw new RingUsageError(`ring: withLock takes a function to run, not ${shown(fn)}.`);
    }
    const lock = await this.lock(key, options);
    try {
      return await fn(lock);
    } finally {
      await lock.release();
    }
  }

  /**
   * Waiting locks are refused, holders are asked to finish, members leave. Afterwards nothing is left in etcd but the
   * config.
   */
  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private async shutDown(): Promise<void> {
    this.locks.close();
    this.sayHeld();
    const removals = [...this.membership.local.keys()].map((id) => this.removeMember(id));
    // A member that is being removed already is as good as removed.
    await Promise.allSettled(removals);
    this.slots.close();
    await this.membership.close();
    await this.etcd.close();
  }

  private sayHeld(): void {
    const keys = this.locks.heldKeys(namedMax + 1);
    if (keys.length === 0) return;
    const more = keys.length > namedMax ? ' and more' : '';
    const named = keys.slice(0, namedMax).map((key) => `"${key}"`);
    const limit = Number.isFinite(this.drainMs) ? `, for ${this.drainMs} ms at most` : '';
    const says = `The ring stays open until ${named.join(', ')}${more} are released${limit}.`;
    if (this.log === silent) process.emitWarning(says);
    else this.log.warn(says, { event: 'ring-close-waits', keys: keys.slice(0, namedMax) });
  }

  private follow(membership: Membership): void {
    membership.on('view', (view) => this.emitter.emit('view', this.positioned(view)));
    membership.on('member', (event) => this.emitter.emit('member', event));
    membership.on('error', (error) => this.emitter.emit('error', error));
    const isOwn = (lease: bigint): boolean =>
      [...membership.local.values()].some((member) => member.leaseId === lease);
    membership.mirror.onChange((changes) => {
      for (const change of changes) {
        this.durable.onChange(change, isOwn);
        this.waiting.onChange(change, isOwn);
      }
    });
  }

  private slotOf(key: string): Slot {
    checkKey(key);
    const { length } = this.slots.all;
    const index = this.placement.slotOf(key, length);
    const slot = this.slots.all[index];
    if (slot !== undefined) return slot;
    throw new RingConfigError(
      `ring: the placement "${this.placement.name}" gives slot ${shown(index)} to a key; a whole number below ${length} is right.`,
    );
  }

  /** The lock, and the record in etcd that still tells of the wait for it; null: none. */
  private async waitVisibly(slot: Slot, key: string, options: WaitOptions): Promise<Granted> {
    const atOnce = options.signal?.aborted === true ? null : this.locks.tryLock(slot, key);
    if (atOnce !== null) return { lock: atOnce, wait: null };
    const waiting = this.locks.lock(slot, key, options);
    // Without a member there is no lease to put the record under; the wait itself needs none.
    const member = [...this.membership.local.values()].find(({ incarnation }) => incarnation > 0);
    const visible = member === undefined ? null : this.waiting.show(key, member);
    try {
      const lock = await waiting;
      return { lock, wait: visible?.granted() ?? null };
    } catch (error) {
      visible?.over();
      throw error;
    }
  }

  private async writeDurable(lock: Lock, wait: string | null): Promise<boolean> {
    const member = this.membership.local.get(lock.holder);
    let stands = false;
    try {
      if (member === undefined) return false;
      lock.onRelease = () => this.durable.remove(lock);
      stands = await this.durable.write(lock, member.leaseId, wait);
      return stands;
    } catch (error) {
      await lock.release();
      throw error;
    } finally {
      if (!stands && wait !== null) this.waiting.forget(wait);
    }
  }

  private positioned(view: MemberView): RingView {
    const { placement, slots } = this;
    const position = (id: string): number | null =>
      placement.positionOf?.(id, slots.all.length) ?? null;
    const members = view.members.map((member) => ({ ...member, position: position(member.id) }));
    return { ...view, members };
  }

  private onMoved(slot: Slot): void {
    for (const lock of this.locks.onMoved(slot)) {
      const lease = slot.member?.leaseId ?? 0n;
      if (lock.onRelease !== null) {
        this.durable
          .write(lock, lease)
          .catch((error: unknown) => this.emitter.emit('error', asError(error)));
      }
    }
    this.emitter.emit('gained', slotEvent(slot));
  }

  private assertOpen(): void {
    if (this.closing !== null) throw new RingClosedError();
  }
}

interface Granted {
  readonly lock: Lock;
  readonly wait: string | null;
}

interface RingParts {
  readonly etcd: Etcd;
  readonly clock: Clock;
  readonly log: Log;
  readonly membership: Membership;
  readonly placement: RingPlacement;
  readonly prefix: string;
  readonly count: number;
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function slotEvent(slot: Slot): SlotEvent {
  return { slot: slot.index, member: slot.member?.id ?? '' };
}

function connect(options: RingOptions, clock: Clock, log: Log): Etcd {
  const { endpoints = [], tls, auth } = options;
  return new EtcdClient({
    endpoints,
    clock,
    log,
    ...(tls === undefined ? {} : { tls }),
    ...(auth === undefined ? {} : { auth }),
  });
}

function wantedConfig({ slots, placement }: RingOptions): Partial<RingConfig> {
  return {
    ...(slots !== undefined && { slots }),
    ...(placement !== undefined && { placement: placementOf(placement) }),
  };
}

function placementOf(given: NonNullable<RingOptions['placement']>): RingPlacement {
  if (given === 'rendezvous') return rendezvous;
  if (given === 'successor') return successor();
  // Two functions of this name are told apart by the fingerprint of the slots they give.
  return typeof given === 'function' ? successor(given, 'own') : given;
}
