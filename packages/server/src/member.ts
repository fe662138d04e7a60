/**
 * One member: starts, drains and stops its parts, which `wiring/` connects. Runs on the `Env` it is given; production
 * and the simulator differ in nothing else.
 */
import { type Cancel, CarillonError, sleep } from '@carillon/core';
import type { Router } from './api/router.ts';
import { createHandler } from './cluster/peer-handler.ts';
import type { Metrics } from './metrics/metrics.ts';
import { createInbox } from './replication/inbox.ts';
import type { Store } from './store/store.ts';
import { buildSearch } from './wiring/build-search.ts';
import { DoctorOffice } from './wiring/doctor.ts';
import type { MemberOptions } from './wiring/options.ts';
import { Parts } from './wiring/parts.ts';
import { recover } from './wiring/recover.ts';
import { createRoutes } from './wiring/routes.ts';
import { Upkeep } from './wiring/upkeep.ts';

const drainPollMs = 100;
/** How long a member that stops waits for its last spans to go. */
const telemetryLimitMs = 2000;

export class Member {
  private readonly parts: Parts;
  private readonly upkeep: Upkeep;
  private readonly office: DoctorOffice;
  private phase: 'starting' | 'serving' | 'draining' | 'stopping' = 'starting';
  private draining: Promise<void> | null = null;
  private stopLagProbe: Cancel = () => {};
  readonly router: Router;

  private constructor(options: MemberOptions) {
    this.parts = new Parts(options, () => this.phase === 'stopping');
    this.upkeep = new Upkeep(this.parts);
    this.office = new DoctorOffice(this.parts, () => this.unready());
    const control = {
      cluster: () => this.parts.cluster.report.describe(),
      drain: () => this.drain(),
      resync: () => this.parts.cluster.resync(),
      unready: () => this.unready(),
    };
    this.router = createRoutes(this.parts, control, this.office.doctor);
  }

  /** Recovers the records on disk, joins the others, and begins to pop. */
  static async start(options: MemberOptions): Promise<Member> {
    const member = new Member(options);
    const { cluster, popper, replica } = member.parts;
    const awakening = await recover(member.parts);
    // Nothing waits for it: entries are in memory until it has read its files.
    member.parts.historyLog?.start().catch(() => undefined);
    await options.source.start((spec) => cluster.membership.apply(spec));
    await options.env.network?.listen(
      createInbox(
        options.name,
        { ...options.env, delayOf: cluster.delayOf },
        createHandler({
          ...member.parts.readParts(),
          facts: () => member.office.factsText(),
        }),
      ),
    );
    cluster.start(replica, awakening);
    member.phase = 'serving';
    popper.wakeUp();
    member.upkeep.run();
    member.parts.telling.start();
    member.parts.telemetry?.exporter.start();
    member.office.start();
    member.stopLagProbe = member.metrics.lag.start(options.env.clock);
    buildSearch(member.parts, () => member.phase === 'stopping');
    await options.source.ready();
    return member;
  }

  get metrics(): Metrics {
    return this.parts.metrics;
  }

  get store(): Store {
    return this.parts.store;
  }

  /** Starts due pops before other work: the listener calls it ahead of each request. */
  readonly poll = (): void => this.parts.popper.poll();

  /**
   * Hands every record to other members; resolves when none is left here. A member that cannot, stays. A second call
   * joins the first.
   */
  drain(): Promise<void> {
    this.draining ??= this.handOver().finally(() => {
      this.draining = null;
    });
    return this.draining;
  }

  private async handOver(): Promise<void> {
    const { env, config } = this.parts.options;
    if (!this.hasOthers()) {
      throw new CarillonError(
        'conflict',
        'There is no other active member that could take the timers.',
      );
    }
    this.phase = 'draining';
    this.parts.cluster.membership.leave();
    await this.tellSource('leave');
    const untilMs = env.clock.now() + config.shutdown.drainLimitMs;
    while (this.parts.cluster.remaining > 0) {
      if (env.clock.now() > untilMs || !this.hasOthers()) return this.stay();
      await sleep(env.clock, drainPollMs);
    }
    this.parts.options.onDrained?.();
  }

  /**
   * Whether there is a member to take the timers. Two members that drain at the same moment find that there is none.
   */
  private hasOthers(): boolean {
    const { name } = this.parts.options;
    return this.parts.cluster.view.members.some((m) => m.name !== name && m.phase === 'active');
  }

  /** Takes part again, because a drain did not come to its end. */
  private async stay(): Promise<never> {
    const { remaining } = this.parts.cluster;
    this.phase = 'serving';
    this.parts.cluster.membership.stay();
    await this.tellSource('ready');
    throw new CarillonError('overloaded', `${remaining} timers could not be handed on in time.`);
  }

  /** The others hear of it from this member itself too: a source that does not answer holds up nothing. */
  private async tellSource(what: 'leave' | 'ready'): Promise<void> {
    const { env, source } = this.parts.options;
    try {
      await source[what]();
    } catch (error) {
      env.log.warn('The source of the view did not hear that this member is ready, or leaves.', {
        event: 'source-untold',
        what,
        reason: String(error),
      });
    }
  }

  /** Finishes requests and callbacks in flight, within the configured limit, and closes everything. */
  async stop(): Promise<void> {
    const { env, config, source } = this.parts.options;
    this.phase = 'stopping';
    this.upkeep.stop();
    this.parts.telling.stop();
    this.office.stop();
    this.stopLagProbe();
    this.parts.diskCare.stop();
    this.parts.popper.stop();
    const untilMs = env.clock.now() + config.shutdown.limitMs;
    while (this.parts.popper.activeCount > 0 && env.clock.now() < untilMs)
      await sleep(env.clock, 10);
    this.parts.cluster.stop();
    // Results of pops that are still to be replicated go out first: without them other members would pop again.
    while (this.parts.cluster.peers?.owed === true && env.clock.now() < untilMs)
      await sleep(env.clock, 10);
    await source.stop();
    await env.network?.close();
    await this.parts.destinations.close();
    await this.parts.historyLog?.stop();
    await this.parts.telemetry?.exporter.stop(telemetryLimitMs);
    await this.parts.journal?.close();
  }

  private unready(): string | null {
    if (this.phase === 'starting') return 'The member is starting.';
    if (this.phase === 'draining') return 'The member hands its timers on and will leave.';
    if (this.phase === 'stopping') return 'The member is stopping.';
    return this.parts.replica.full ? 'The disk is full.' : null;
  }
}
