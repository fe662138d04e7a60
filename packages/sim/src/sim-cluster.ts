/**
 * A whole cluster in one world: members, cables, receivers and views, and the way in for clients. Knows nothing of
 * plans, seeds or checkers; scenarios use it directly.
 */
import { parseVersion, type Version } from '@carillon/core';
import { SeededRandom } from '@carillon/core/testing';
import {
  type ApiRequest,
  type ApiResponse,
  type Config,
  configOf,
  type ViewSource,
} from '@carillon/server/internal';
import { FaultLog } from './world/fault-log.ts';
import type { Attempt } from './history.ts';
import { Cables } from './world/network.ts';
import type { ClockFaults, Process } from './world/process.ts';
import { Receivers } from './world/receivers.ts';
import { SimMember, type SimResources } from './sim-member.ts';
import { Views } from './world/views.ts';
import { World } from './world/world.ts';

export interface SimClusterOptions {
  readonly seed: number;
  readonly world?: World;
  readonly durable?: boolean;
  /** Options of the members by dotted name. */
  readonly config?: ReadonlyMap<string, unknown>;
  /** Where members get their views; by default from `views`. */
  readonly source?: (cluster: SimCluster, process: Process) => ViewSource;
  readonly onBug: (what: string) => void;
}

/** Every callback is signed, so that its headers name the pop exactly. */
const signingSecret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

const simulated: readonly (readonly [string, unknown])[] = [
  ['callbacks.signingSecrets', [signingSecret]],
  // Short waits, so that retries and timeouts that begin in a run also end in it.
  ['retry.waitMsMax', 10_000],
  ['callbacks.timeoutMs', 5000],
  // Scrubs so often that damage is found before the next disk is damaged.
  ['scrubIntervalMs', 30_000],
  // So short that files of the history are begun, removed and written anew in a run.
  ['history.bytesMax', 64 * 1024],
];

export class SimCluster {
  readonly world: World;
  readonly faults = new FaultLog();
  readonly random: SeededRandom;
  readonly cables: Cables;
  readonly receivers: Receivers;
  readonly views: Views;
  readonly members = new Map<string, SimMember>();
  private readonly resources: SimResources;
  /** A member that could not start, or gave up, is started again after this long. */
  restartMs = 2000;
  /** Called when a member has started and serves. */
  onServes: (member: SimMember) => void = () => {};
  /** Share of requests between clients and members that is lost, each way. */
  clientLossRatio = 0;

  constructor(options: SimClusterOptions) {
    const random = new SeededRandom(options.seed);
    this.random = random;
    this.world = options.world ?? new World();
    const { world, faults } = this;
    this.cables = new Cables({ world, faults, random: random.fork() });
    this.receivers = new Receivers({ world, random: random.fork() });
    this.views = new Views({ world, faults, random: random.fork() });
    const config: Config = configOf(new Map([...simulated, ...(options.config ?? [])]));
    this.resources = {
      world,
      faults,
      cables: this.cables,
      receivers: this.receivers,
      config,
      durable: options.durable ?? true,
      source: (process) => options.source?.(this, process) ?? this.views.source(process),
      onBug: options.onBug,
    };
  }

  /** A new place for a member; nothing runs there yet. */
  add(name: string, clock: ClockFaults = { driftPpm: 0, wallOffsetMs: 0 }): SimMember {
    const member = new SimMember(name, this.resources, this.random.u32(), clock);
    member.onExit = () => void this.world.after(this.restartMs, () => member.start());
    member.onServes = () => this.onServes(member);
    this.members.set(name, member);
    return member;
  }

  member(name: string): SimMember {
    const member = this.members.get(name);
    if (member === undefined) throw new Error(`There is no member ${name} in this cluster.`);
    return member;
  }

  /** Members that run and do not stand still. */
  get healthy(): SimMember[] {
    return [...this.members.values()].filter((member) => member.healthy);
  }

  /**
   * Sends one request to one member. `answered` is called with the answer, or with null when the connection was
   * refused; never when something was lost.
   */
  send(
    attempt: Attempt,
    request: ApiRequest,
    answered: (response: ApiResponse | null) => void,
  ): void {
    const { world } = this;
    const target = this.member(attempt.member);
    world.trace.note(world.nowMs, `client>${attempt.member} ${request.method} ${request.path}`);
    if (this.random.chance(this.clientLossRatio)) {
      attempt.settledMs = world.nowMs;
      return;
    }
    world.after(this.clientDelayMs(), () => this.arrive(target, attempt, request, answered));
  }

  private arrive(
    target: SimMember,
    attempt: Attempt,
    request: ApiRequest,
    answered: (response: ApiResponse | null) => void,
  ): void {
    const { world } = this;
    const { present: process, member } = target;
    if (process === null || member === null) {
      attempt.settledMs = world.nowMs;
      if (process?.refuses !== false) world.after(this.clientDelayMs(), () => answered(null));
      return;
    }
    const settle = (): void => {
      attempt.settledMs ??= world.nowMs;
    };
    process.onEnd(settle);
    process.arrive(() => {
      attempt.arrivedMs = world.nowMs;
      void Promise.resolve(member.router.handle(request)).then((response) => {
        if (!process.alive) return;
        settle();
        // The body of a page is put together whenever it is asked for.
        if (request.method !== 'GET') attempt.version = versionIn(response);
        world.trace.note(
          world.nowMs,
          `${target.name} answers ${request.method} ${response.status}`,
        );
        if (this.random.chance(this.clientLossRatio)) return;
        world.after(this.clientDelayMs(), () => answered(response));
      });
    });
  }

  private clientDelayMs(): number {
    return 0.2 + this.random.unit() * 0.8;
  }
}

/** The version that a change was given, alone or as the only item of a batch; null: the answer has none. */
export function versionIn(response: ApiResponse): Version | null {
  const header = headerOf(response, 'carillon-version');
  if (header !== null) return parseVersion(header);
  if (!response.body.startsWith('[')) return null;
  const [item] = JSON.parse(response.body) as { readonly version?: string }[];
  return parseVersion(item?.version ?? '');
}

export function headerOf(response: ApiResponse, name: string): string | null {
  const i = response.headers.indexOf(name);
  return i === -1 ? null : (response.headers[i + 1] ?? null);
}
