/**
 * The members under one prefix in etcd, and the ones that this process adds to it. Usable on its own (the timer
 * service takes its view from here); the ring builds its locks on it.
 *
 * The view is the content of etcd; while etcd is away, the view stays as it was. Whether the *own* members may still
 * be trusted is another question, answered by `remainingMs()` and the `lost` event.
 */
import type { Cancel, Clock, Log, Random } from '@carillon/core';
import { Emitter } from './emitter.ts';
import { checkMs } from './arguments.ts';
import { NotLocalError, RingConfigError } from './errors.ts';
import type { Change, Etcd } from './etcd/etcd.ts';
import type { LeaseLoss } from './lease.ts';
import { LocalMember } from './local-member.ts';
import {
  decodeMember,
  type Member,
  type MemberRecord,
  type MemberView,
  memberRecord,
} from './member.ts';
import { Mirror } from './mirror.ts';

export interface MembershipOptions {
  readonly etcd: Etcd;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where everything lives in etcd; ends in a slash. Members are at `<prefix>m/<id>`. */
  readonly prefix: string;
  /**
   * The TTL of members' leases: how long a dead one stays in the view. Default 5000; etcd grants at least about 2000.
   */
  readonly ttlMs?: number | undefined;
  /** See `LeaseOptions.marginMs`. */
  readonly marginMs?: number | undefined;
}

export type MemberEvent = {
  readonly kind: 'joined' | 'left' | 'changed';
  readonly member: Member;
};

export interface MembershipEvents {
  /** The members changed; once per batch of changes. */
  view: MemberView;
  /** One member came, went or changed; told before `view`. */
  member: MemberEvent;
  /** An own member may not be trusted any more. It rejoins by itself. */
  lost: { readonly member: LocalMember; readonly reason: LeaseLoss };
  /** An own member has (re)joined under a new incarnation. */
  joined: { readonly member: LocalMember };
  error: Error;
}

export const defaultTtlMs = 5000;

export class Membership {
  readonly mirror: Mirror;
  private readonly options: MembershipOptions;
  private readonly emitter: Emitter<MembershipEvents>;
  private readonly locals = new Map<string, LocalMember>();
  private readonly known = new Map<string, Member>();
  private viewNow: MemberView = { revision: 0, members: [] };

  private constructor(options: MembershipOptions) {
    const { prefix, ttlMs = defaultTtlMs, marginMs = 0 } = options;
    checkMs('ttlMs', ttlMs, { min: 1, right: '1 or more', refuse: RingConfigError });
    checkMs('marginMs', marginMs, { right: '0 or more', refuse: RingConfigError });
    if (prefix.length < 2 || !prefix.endsWith('/')) {
      throw new TypeError(`ring: the prefix "${prefix}" must be like "name/".`);
    }
    this.options = options;
    this.emitter = new Emitter((error) => {
      options.log.error('A listener of a ring threw.', {
        event: 'ring-listener-threw',
        reason: String(error),
      });
    });
    this.mirror = new Mirror(options);
    this.mirror.onChange((changes) => this.onChanges(changes));
    this.mirror.onRead(() => {
      for (const member of this.locals.values()) this.checkShown(member, member.incarnation);
    });
  }

  /** Resolves with the first view. Rejects with EtcdError when etcd cannot be read. */
  static async open(options: MembershipOptions): Promise<Membership> {
    const membership = new Membership(options);
    try {
      await membership.mirror.start();
    } catch (error) {
      membership.mirror.close();
      throw error;
    }
    membership.viewNow = membership.makeView();
    return membership;
  }

  get view(): MemberView {
    return this.viewNow;
  }

  /** The members this process has added and not removed. */
  get local(): ReadonlyMap<string, LocalMember> {
    return this.locals;
  }

  on<Name extends keyof MembershipEvents>(
    name: Name,
    listener: (event: MembershipEvents[Name]) => void,
  ): Cancel {
    return this.emitter.on(name, listener);
  }

  /**
   * Adds a member and keeps its lease alive until `leave` or `close`. The same id again: the member that is
   * there. An id alive elsewhere: `MemberTakenError`, after waiting `waitMs` (default 0) for it to go; use
   * a bit more than the TTL where a crashed process restarts under its old id.
   */
  async join(
    id: string,
    record: Partial<Omit<MemberRecord, 'id'>> = {},
    waitMs = 0,
  ): Promise<LocalMember> {
    const there = this.locals.get(id);
    if (there !== undefined) return there;
    const { ttlMs = defaultTtlMs, ...options } = this.options;
    const member = new LocalMember(
      memberRecord(id, record),
      { ...options, ttlMs },
      {
        onJoined: (joined) => this.onJoined(joined),
        onLost: (lost, reason) => this.emitter.emit('lost', { member: lost, reason }),
        onError: (error) => this.emitter.emit('error', error),
      },
    );
    this.locals.set(id, member);
    try {
      await member.join(waitMs, {
        isTaken: () => this.mirror.entries.has(member.key),
        isConnected: () => this.mirror.connected,
      });
    } catch (error) {
      // The member may have been removed meanwhile, and another one may be there under its id.
      if (this.locals.get(id) === member) this.locals.delete(id);
      await member.leave();
      throw error;
    }
    return member;
  }

  /** Removes an own member at once; nothing is drained here. */
  async leave(id: string): Promise<void> {
    const member = this.locals.get(id);
    if (member === undefined) throw new NotLocalError(id);
    this.locals.delete(id);
    await member.leave();
  }

  /** All own members leave, the watch ends. The etcd client stays open: it belongs to the caller. */
  async close(): Promise<void> {
    await Promise.all([...this.locals.keys()].map((id) => this.leave(id)));
    this.mirror.close();
  }

  private async onJoined(member: LocalMember): Promise<void> {
    if (this.locals.get(member.id) !== member) return;
    this.emitter.emit('joined', { member });
    await this.shown(member);
  }

  /** Waits until the view shows the member, or shows that it is gone again. */
  private async shown(member: LocalMember): Promise<void> {
    const { incarnation } = member;
    if (incarnation === 0 || this.mirror.revision >= incarnation) {
      this.checkShown(member, incarnation);
      return;
    }
    await this.mirror.read().catch((error: unknown) => {
      this.options.log.debug('The view of a ring could not be read now; the watch will bring it.', {
        event: 'ring-view-delayed',
        reason: String(error),
      });
    });
    this.checkShown(member, incarnation);
  }

  /** A deletion can overtake the answer of the join that it undoes. */
  private checkShown(member: LocalMember, incarnation: number): void {
    const { mirror } = this;
    if (incarnation === 0 || mirror.revision < incarnation || mirror.entries.has(member.key))
      return;
    member.onChange({ kind: 'delete', key: member.key, revision: mirror.revision + 1 });
  }

  private onChanges(changes: readonly Change[]): void {
    const memberPrefix = `${this.options.prefix}m/`;
    let touched = false;
    for (const change of changes) {
      const key = change.kind === 'put' ? change.entry.key : change.key;
      if (!key.startsWith(memberPrefix)) continue;
      touched = true;
      for (const local of this.locals.values()) if (local.key === key) local.onChange(change);
      this.note(key, change);
    }
    if (!touched) return;
    this.viewNow = this.makeView();
    this.emitter.emit('view', this.viewNow);
  }

  private note(key: string, change: Change): void {
    const before = this.known.get(key);
    const after = change.kind === 'put' ? decodeMember(this.options.prefix, change.entry) : null;
    if (after === null) {
      if (change.kind === 'put')
        this.options.log.warn('A key of a ring holds no member record.', {
          event: 'ring-record-unreadable',
          key,
        });
      this.known.delete(key);
      if (before !== undefined) this.emitter.emit('member', { kind: 'left', member: before });
      return;
    }
    this.known.set(key, after);
    if (before !== undefined && before.incarnation !== after.incarnation) {
      this.emitter.emit('member', { kind: 'left', member: before });
    }
    const same = before?.incarnation === after.incarnation;
    this.emitter.emit('member', { kind: same ? 'changed' : 'joined', member: after });
  }

  private makeView(): MemberView {
    const members = [...this.known.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return { revision: this.mirror.revision, members };
  }
}
