/**
 * Views from etcd: each member holds a leased record there, and all watch. While etcd is away the last view
 * stays. A member joins as `joining`, becomes `active` when it is ready to hold timers, and `leaving` when it
 * drains.
 */
import type { Membership, MemberView } from '@carillon/ring';
import type { ViewSource } from './source.ts';
import type { ViewMember, ViewSpec } from './view.ts';

export interface EtcdSourceOptions {
  readonly self: Omit<ViewMember, 'phase'>;
  readonly open: () => Promise<Membership>;
  /** Closes the connections to etcd. */
  readonly close: () => Promise<void>;
  /** How long to wait for the lease of a dead predecessor under the same name. */
  readonly joinWaitMs: number;
}

export class EtcdSource implements ViewSource {
  private readonly options: EtcdSourceOptions;
  private membership: Membership | null = null;
  private update: (phase: 'active' | 'leaving') => Promise<void> = async () => {};

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
    membership.on('view', (view) => onView(specOf(view)));
    onView(specOf(membership.view));
  }

  ready(): Promise<void> {
    return this.update('active');
  }

  leave(): Promise<void> {
    return this.update('leaving');
  }

  async stop(): Promise<void> {
    await this.membership?.close();
    await this.options.close();
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
