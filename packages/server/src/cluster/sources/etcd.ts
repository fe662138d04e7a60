/**
 * Views from etcd: each member holds a leased record there, and all watch. While etcd is away the last view stays. A
 * member joins as `joining`, becomes `active` when it is ready to hold timers, and `leaving` when it drains.
 *
 * A member that vanishes without having said that it leaves stays in the view a moment longer: after etcd was away
 * for more than a lease's time all members lose their leases at once and come back a little later, and no timer
 * should move because of that.
 */
import type { Cancel, Clock } from '@carillon/core';
import type { Membership, MemberView } from '@carillon/ring';
import type { ViewSource } from './source.ts';
import type { ViewMember, ViewSpec } from '../view/view.ts';

export interface EtcdSourceOptions {
  readonly self: Omit<ViewMember, 'phase'>;
  readonly open: () => Promise<Membership>;
  /** Closes the connections to etcd. */
  readonly close: () => Promise<void>;
  /** How long to wait for the lease of a dead predecessor under the same name. */
  readonly joinWaitMs: number;
  readonly clock: Clock;
}

/** Longer than the ring takes to rejoin once etcd answers. */
const lingerMs = 2500;

export class EtcdSource implements ViewSource {
  private readonly options: EtcdSourceOptions;
  private membership: Membership | null = null;
  private update: (phase: 'active' | 'leaving') => Promise<void> = async () => {};
  private onView: (spec: ViewSpec) => void = () => {};
  private shown: readonly ViewMember[] = [];
  /** Members that vanished, by name. */
  private readonly lingering = new Map<string, { member: ViewMember; untilMs: number }>();
  private cancelLingering: Cancel = () => {};

  constructor(options: EtcdSourceOptions) {
    this.options = options;
  }

  async start(onView: (spec: ViewSpec) => void): Promise<void> {
    const { self, open, joinWaitMs } = this.options;
    const { name, ...record } = self;
    const membership = await open();
    this.membership = membership;
    const local = await membership.join(name, { ...record, phase: 'joining' }, joinWaitMs);
    this.update = async (phase) => local.update({ phase });
    this.onView = onView;
    membership.on('view', (view) => this.show(specOf(view)));
    this.show(specOf(membership.view));
  }

  ready(): Promise<void> {
    return this.update('active');
  }

  leave(): Promise<void> {
    return this.update('leaving');
  }

  async stop(): Promise<void> {
    this.cancelLingering();
    await this.membership?.close();
    await this.options.close();
  }

  private show(spec: ViewSpec): void {
    const { lingering } = this;
    const nowMs = this.options.clock.now();
    const present = new Set(spec.members.map(({ name }) => name));
    for (const member of this.shown) {
      if (present.has(member.name) || member.phase === 'leaving') continue;
      if (!lingering.has(member.name)) {
        lingering.set(member.name, { member, untilMs: nowMs + lingerMs });
      }
    }
    for (const [name, { untilMs }] of lingering) {
      if (present.has(name) || untilMs <= nowMs) lingering.delete(name);
    }
    this.shown = [...spec.members, ...Array.from(lingering.values(), ({ member }) => member)];
    this.lookAgain(spec);
    this.onView({ ...spec, members: this.shown });
  }

  /** Shows the view again when the first vanished member has stayed long enough. */
  private lookAgain(spec: ViewSpec): void {
    this.cancelLingering();
    if (this.lingering.size === 0) return;
    const nextMs = Math.min(...Array.from(this.lingering.values(), ({ untilMs }) => untilMs));
    this.cancelLingering = this.options.clock.at(nextMs, () => this.show(spec));
  }
}

function specOf(view: MemberView): ViewSpec {
  return {
    source: 'etcd',
    revision: view.revision,
    members: view.members.map(({ id, phase, address, peer, labels, weight }) => ({
      name: id,
      phase,
      address,
      peer,
      labels,
      weight,
    })),
  };
}
