/** The words of a member about itself and the others: the hello to its peers, and the cluster as operators see it. */
import type { Clock } from '@carillon/core';
import type { LoadMeter } from '../metrics/load.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ClusterView, MemberView } from '../metrics/status.ts';
import type { Peers } from '../replication/peers.ts';
import type { Replica } from '../replication/replica.ts';
import { protocol } from '../replication/wire/frame.ts';
import type { Hello } from '../replication/wire/hello.ts';
import type { DiskReport } from './disk/disk-report.ts';
import type { Membership } from './membership.ts';
import type { Repair } from './repair.ts';

const idleResync = { running: false, checked: 0, total: 0, moved: 0 };
const nothingToRepair = { unconfirmedRecords: 0, underReplicated: 0 };

export interface ReportParts {
  readonly self: string;
  readonly clock: Clock;
  readonly release: string;
  /** Drawn at the start: tells two runs of a member apart. */
  readonly boot: number;
  /** Since when this member's memory reaches back, on the monotonic clock. */
  readonly historySinceMs: () => number;
  readonly disk: DiskReport;
  readonly metrics: Metrics;
  readonly load: LoadMeter;
  readonly membership: Membership;
  /** Replicas of a timer whose client names no factor. */
  readonly factorDefault: number;
  /** null: alone. */
  readonly peers: Peers | null;
  /** null: not started yet. */
  readonly replica: () => Replica | null;
  /** null: alone, or not started yet. */
  readonly repair: () => Repair | null;
}

export class ClusterReport {
  private readonly parts: ReportParts;

  constructor(parts: ReportParts) {
    this.parts = parts;
  }

  hello(): Hello {
    const { clock, release, boot, historySinceMs, disk, load, membership } = this.parts;
    const replica = this.parts.replica();
    const spoken = replica?.spokenFor((name) => this.parts.peers?.silent(name) ?? true);
    return {
      release,
      protocolMin: protocol.min,
      protocolMax: protocol.max,
      viewId: membership.view.id,
      boot,
      historyMs: clock.now() - historySinceMs(),
      leaving: membership.leaving,
      moving: this.parts.repair()?.isMoving ?? false,
      full: replica?.full ?? false,
      disk: disk.state,
      wallMs: clock.wall(),
      timers: replica?.store.counts.live ?? 0,
      primaries: spoken?.timers ?? 0,
      load: load.now(),
      figures: {
        letters: spoken?.letters ?? 0,
        retrying: spoken?.retrying ?? 0,
        answers: this.parts.metrics.callbackAnswers.counted(),
      },
    };
  }

  describe(): ClusterView {
    const { view } = this.parts.membership;
    const repair = this.parts.repair();
    return {
      viewId: view.id,
      revision: view.revision,
      source: view.source,
      placementId: view.placementId,
      defaultFactor: this.parts.factorDefault,
      hot: view.hotSentences(this.parts.factorDefault),
      members: view.members.map((member) => this.describeMember(member.name)),
      resync: repair?.resync.progress ?? idleResync,
      repair: repair?.counts ?? nothingToRepair,
      damage: this.parts.disk.view(),
    };
  }

  private describeMember(name: string): MemberView {
    const { membership, peers } = this.parts;
    const member = membership.view.member(name);
    const presence = this.parts.repair()?.presence;
    const self = name === this.parts.self;
    const reachable = self || !(peers?.silent(name) ?? false);
    const hello = self ? this.hello() : (presence?.lastHello(name) ?? null);
    // Figures of a member that is silent are old, and others may hold its timers by now.
    const heard = reachable ? hello : null;
    return {
      name,
      address: member?.address ?? '',
      phase: membership.shownPhase(name),
      weight: member?.weight ?? 0,
      labels: member?.labels ?? {},
      self,
      reachable,
      clockOffsetMs: self ? 0 : (presence?.offsetMs(name) ?? null),
      timers: heard?.timers ?? null,
      primaries: heard?.primaries ?? null,
      figures: heard?.figures ?? null,
      disk: hello?.disk ?? null,
      load: heard?.load ?? null,
    };
  }
}
