/**
 * The present view: the members that the source names, each in the phase that its own words give it. The source says
 * that a member is active; the member itself says that it leaves, and that counts at once.
 */
import type { Clock, Log } from '@carillon/core';
import type { Hello } from '../replication/wire/hello.ts';
import { Vanished } from './view/vanished.ts';
import { type Phase, View, type ViewMember, type ViewSpec } from './view/view.ts';

export interface MembershipParts {
  readonly self: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Replicas of a timer whose client names no factor. */
  readonly factorDefault: number;
  /** The last hello of another member; null: it was not heard yet. */
  readonly lastHello: (name: string) => Hello | null;
  /** Called with the view after each look at the source's words and the members' own. */
  readonly onRefreshed: (view: View) => void;
  /** This member leaves: the others are to hear of it before its records. */
  readonly onLeaves: () => void;
}

export class Membership {
  private readonly parts: MembershipParts;
  private spec: ViewSpec | null = null;
  private current = new View({ source: 'none', revision: 0, members: [] });
  private isLeaving = false;
  private readonly vanished = new Vanished();

  constructor(parts: MembershipParts) {
    this.parts = parts;
  }

  get view(): View {
    return this.current;
  }

  /** Whether the source has told of a view yet. */
  get isKnown(): boolean {
    return this.spec !== null;
  }

  /** Whether this member hands its records on. */
  get leaving(): boolean {
    return this.isLeaving;
  }

  get otherNames(): readonly string[] {
    return this.current.members.map(({ name }) => name).filter((name) => name !== this.parts.self);
  }

  apply(spec: ViewSpec): void {
    this.spec = spec;
    this.refresh();
  }

  /** From now on this member hands its records on. */
  leave(): void {
    this.isLeaving = true;
    this.parts.onLeaves();
    this.refresh();
  }

  /** … and from now on it keeps them after all. */
  stay(): void {
    this.isLeaving = false;
    this.refresh();
  }

  /** The source's view, with the members' own words laid over it. */
  refresh(): void {
    const { spec } = this;
    if (spec === null) return;
    const { clock, log, onRefreshed, factorDefault } = this.parts;
    const members = spec.members.map((member) => ({ ...member, phase: this.phaseOf(member) }));
    const before = this.current.id;
    this.vanished.update(this.current.members, members, clock.now());
    this.current = new View({ ...spec, members, vanished: this.vanished.members });
    const view = this.current;
    if (view.id !== before) {
      log.info('The view has changed.', {
        event: 'view-changed',
        viewId: view.id,
        source: view.source,
        placementId: view.placementId,
        members: members.map(({ name }) => `${name} ${this.shownPhase(name)}`),
      });
      for (const says of view.hotSentences(factorDefault))
        log.warn(says, { event: 'member-hot', viewId: view.id });
      for (const says of view.slipSentences())
        log.warn(says, { event: 'label-slip', viewId: view.id });
    }
    onRefreshed(view);
  }

  /** The phase as people see it: a member that the members file calls joining is still being given its timers. */
  shownPhase(name: string): Phase | 'gone' {
    const phase = this.current.member(name)?.phase;
    if (phase !== 'active') return phase ?? 'gone';
    return this.spec?.members.find((member) => member.name === name)?.phase ?? phase;
  }

  /**
   * The phase that a member acts in: it leaves as soon as it says so. A member that joins by a members file takes part
   * as soon as it answers; with etcd it says itself when it is ready.
   */
  private phaseOf({ name, phase }: ViewMember): Phase {
    const { lastHello } = this.parts;
    const self = name === this.parts.self;
    if (self ? this.isLeaving : lastHello(name)?.leaving === true) return 'leaving';
    if (phase !== 'joining' || this.spec?.source !== 'static') return phase;
    return self || lastHello(name) !== null ? 'active' : 'joining';
  }
}
