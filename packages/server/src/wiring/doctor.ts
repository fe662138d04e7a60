/** The doctor of a member: where its facts come from, and how other members are asked for theirs. */
import { shownConfig } from '../doctor/shown-config.ts';
import { Doctor } from '../doctor/doctor.ts';
import { type MemberFacts, writeFacts } from '../doctor/facts.ts';
import { Recent, recentMs } from '../doctor/recent.ts';
import type { Parts } from './parts.ts';

/** Boxes and destinations that a member tells of. */
const toldCountMax = 50;
const boxRatio = 0.5;
/** Members before this protocol do not know the question. */
const protocolMin = 4;

export class DoctorOffice {
  private readonly parts: Parts;
  private readonly unready: () => string | null;
  private readonly recent: Recent;
  private readonly bornMs: number;
  readonly doctor: Doctor;

  constructor(parts: Parts, unready: () => string | null) {
    this.parts = parts;
    this.unready = unready;
    const { options, metrics, cluster } = parts;
    const { name: self, env, config } = options;
    this.recent = new Recent(metrics, env.clock);
    this.bornMs = env.clock.now();
    this.doctor = new Doctor({
      self,
      clock: env.clock,
      factor: config.defaultFactor,
      cluster: () => cluster.report.describe(),
      own: () => this.facts(),
      ask: (name) => this.ask(name),
      metrics: () => metrics.render(),
      config: () => shownConfig(config),
    });
  }

  start(): void {
    this.recent.start();
  }

  stop(): void {
    this.recent.stop();
  }

  /** The answer to another member that asks. */
  factsText(): string {
    return writeFacts(this.facts());
  }

  private ask(name: string): Promise<string | null> {
    const { peers, state } = this.parts.cluster;
    if (peers === null || peers.silent(name) || state.protocolOf(name) < protocolMin)
      return Promise.resolve(null);
    return new Promise((resolve) => {
      peers.send(name, { type: 'facts' }, (answer) =>
        resolve(answer?.type === 'facts' ? answer.text : null),
      );
    });
  }

  private facts(): MemberFacts {
    const { options, cluster, store, replica, metrics } = this.parts;
    const { name, release, env, config } = options;
    const { limits } = config;
    const { live, dead, tombstone } = store.counts;
    const { resync } = cluster.report.describe();
    const hello = cluster.report.hello();
    return {
      name,
      release: release.version,
      runtime: release.runtime,
      protocolMax: hello.protocolMax,
      viewId: cluster.view.id,
      unready: this.unready(),
      upMs: Math.round(env.clock.now() - this.bornMs),
      clockOffsetMs: Math.round(env.clock.wall() - cluster.state.instant().wallMs),
      silent: cluster.membership.otherNames.filter((other) => cluster.peers?.silent(other) ?? true),
      silentLately: cluster.peers?.silentLately(env.clock.now() - recentMs) ?? [],
      durable: env.disk !== null,
      diskRoom: this.parts.telling.diskRoom,
      diskFull: replica.full,
      diskState: hello.disk,
      fsyncP99Ms: this.recent.p99Ms('journalSync'),
      lagP99Ms: this.recent.p99Ms('eventLoopLag'),
      latenessP99Ms: this.recent.p99Ms('popLateness'),
      openFiles: options.process?.().openFiles ?? null,
      heapBytes: options.process?.().heapBytes ?? null,
      connections: { now: metrics.httpConnections.value, max: limits.connectionCountMax },
      callbacksInFlight: {
        now: this.parts.destinations.inFlight,
        max: config.callbacks.inFlightMax,
      },
      callbacksQueued: this.parts.destinations.queued,
      timers: { now: live + dead + tombstone, max: limits.pendingTimerCountMax },
      letters: { now: dead, max: limits.deadLetterCountMax },
      primaryLetters: hello.figures?.letters ?? 0,
      boxes: this.boxes(),
      failing: this.failing(),
      underReplicated: cluster.underReplicated,
      resyncing: resync.running,
      peersRefused: Object.values(metrics.peersRefused.values() ?? {}).reduce((a, b) => a + b, 0),
      eventsGivenUp: metrics.events.count('given_up'),
    };
  }

  private boxes(): MemberFacts['boxes'] {
    const { replica, quotas } = this.parts;
    return [...replica.usage.letterBoxes()]
      .map(([namespace, now]) => ({ namespace, now, max: quotas.of(namespace).letterCountMax }))
      .filter(({ now, max }) => now > max * boxRatio)
      .toSorted((a, b) => b.now / b.max - a.now / a.max)
      .slice(0, toldCountMax);
  }

  private failing(): MemberFacts['failing'] {
    const { telling, options } = this.parts;
    const nowMs = options.env.clock.now();
    return telling.failing
      .failing()
      .map(({ namespace, receiver, failure, count, sinceMs }) => {
        return { namespace, receiver, failure, count, forMs: Math.round(nowMs - sinceMs) };
      })
      .toSorted((a, b) => b.count - a.count)
      .slice(0, toldCountMax);
  }
}
