/** One plan from beginning to end: a cluster, its clients, its faults, and the checkers that watch it all. */
import { SeededRandom } from '@carillon/core/testing';
import { AnyMember } from './checkers/any-member.ts';
import { ByTwice } from './checkers/by-twice.ts';
import { ComeAndGo } from './checkers/come-and-go.ts';
import { NeverEarly } from './checkers/never-early.ts';
import { NoneLost } from './checkers/none-lost.ts';
import { Once } from './checkers/once.ts';
import { Pops } from './checkers/pops.ts';
import { Safe } from './checkers/safe.ts';
import { Sticks } from './checkers/sticks.ts';
import { eventOptions, eventReceiver, ToldOnce } from './checkers/told.ts';
import { Client, inNamespace } from './client.ts';
import { type Fault, inflict } from './faults/faults.ts';
import { History, SeenVersion } from './history.ts';
import { type Checker, Judge, repairMs, type Violation } from './judge.ts';
import { EtcdMeeting, EtcdOperator, StaticOperator } from './operator.ts';
import { healedMs, type LettersPlan, type Plan, type ReaderPlan, type TimerPlan } from './plan.ts';
import { SimCluster } from './sim-cluster.ts';
import { Trace } from './world/trace.ts';
import { World } from './world/world.ts';

const minuteMs = 60_000;
/** For the questions that checkers ask at the end. */
const finishMs = 10_000;
const restartMs = 2000;
/** Between two lists of a reader. */
const thinkMs = 50;
const placesOption = 'callbacks.inFlightPerDestinationMax';

export interface RunResult {
  readonly plan: Plan;
  readonly violations: readonly Violation[];
  readonly hash: string;
  readonly events: number;
  readonly callbacks: number;
  readonly requests: number;
  readonly lines: readonly string[];
}

export async function runPlan(plan: Plan, options: { trace?: boolean } = {}): Promise<RunResult> {
  const run = new Run(plan, new World(new Trace(options.trace ?? false)));
  return run.go();
}

class Run {
  private readonly plan: Plan;
  private readonly world: World;
  private readonly cluster: SimCluster;
  private readonly operator: StaticOperator | EtcdOperator;
  private readonly history = new History();
  private readonly judge: Judge;
  private readonly client: Client;
  /** Looks after dead letters. */
  private readonly clerk: Client;
  private readonly checkers: readonly Checker[];
  private readonly anyMember: AnyMember;
  private readonly alone = { lastMs: Number.NEGATIVE_INFINITY };
  /** When copies were destroyed for good last. */
  private destroyedMs = Number.NEGATIVE_INFINITY;
  private readonly undos = new Map<Fault, () => void>();

  constructor(plan: Plan, world: World) {
    this.plan = plan;
    this.world = world;
    const random = new SeededRandom(plan.seed ^ 0x5eed);
    const meeting = plan.source === 'etcd' ? new EtcdMeeting(world, random.u32()) : null;
    const sourceRandom = random.fork();
    this.cluster = new SimCluster({
      seed: random.u32(),
      world,
      durable: plan.durable,
      config: new Map([
        ['tombstoneRetentionMs', plan.tombstoneMs],
        ['idempotencyRetentionMs', plan.tombstoneMs],
        ...(plan.callPlaces === undefined ? [] : [[placesOption, plan.callPlaces] as const]),
        ...eventOptions(plan.seed),
      ]),
      ...(meeting !== null && {
        source: (_cluster, process) => meeting.source(process, sourceRandom.fork()),
      }),
      onBug: (what) => this.judge.violate('bug', what),
    });
    const { cluster, history } = this;
    cluster.receivers.togetherMax = plan.togetherMax ?? null;
    cluster.cables.delayMs = plan.delayMs;
    cluster.cables.bytesPerMs = plan.bytesPerMs ?? Number.POSITIVE_INFINITY;
    cluster.views.delayMs = plan.viewDelayMs;
    cluster.views.traits = plan.traits ?? {};
    cluster.restartMs = restartMs;
    this.operator =
      meeting === null ? new StaticOperator(cluster) : new EtcdOperator(cluster, meeting);
    this.judge = new Judge(cluster, history, plan);
    this.client = this.createClient(random.fork());
    const pops = new Pops();
    const { judge } = this;
    this.anyMember = new AnyMember(judge, this.client);
    this.checkers = [
      pops,
      new Safe(judge, () => this.operator.activeNames),
      new NoneLost(judge, pops, this.client, random.fork()),
      new NeverEarly(judge),
      new ByTwice(judge, pops),
      new Once(judge),
      new Sticks(judge),
      this.anyMember,
      new ComeAndGo(judge, () => this.operator.activeNames),
    ];
    this.clerk = this.createClient(random.fork());
    cluster.onServes = (member) => judge.returns.note(member);
    const told = new ToldOnce(judge);
    cluster.receivers.onCall = (call) => {
      if (call.receiver === eventReceiver) return told.onCall(call);
      for (const checker of this.checkers) checker.onCall?.(call);
    };
  }

  async go(): Promise<RunResult> {
    const { plan, world, cluster } = this;
    for (const { name, clock } of plan.members) cluster.add(name, clock);
    this.operator.begin(plan.members.map(({ name }) => name));
    for (const member of cluster.members.values()) member.start();
    this.watchAlone();
    for (const fault of plan.faults) world.at(fault.atMs, () => this.inflict(fault));
    for (const timer of plan.timers) world.at(timer.startMs, () => void this.script(timer));
    for (const letters of plan.letters) {
      world.at(letters.atMs, () => void this.lookAfter(letters));
    }
    for (const reader of plan.readers ?? []) {
      world.at(reader.atMs, () => void this.listAgain(reader));
    }
    const endMs = plan.minutes * minuteMs;
    world.at(Math.max(minuteMs, endMs - healedMs), () => this.heal());
    await world.run(endMs);
    const finished = Promise.all(this.checkers.map(async (checker) => checker.finish?.()));
    await world.run(endMs + finishMs);
    await finished;
    return {
      plan,
      violations: this.judge.violations,
      hash: world.trace.hash,
      events: world.eventCount,
      callbacks: cluster.receivers.calls.length,
      requests: this.history.timers.reduce((sum, timer) => sum + timer.operations.length, 0),
      lines: world.trace.lines,
    };
  }

  private inflict(fault: Fault): void {
    const { world, judge } = this;
    if (this.destroys(fault) && !this.mayDestroy()) return;
    if (fault.kind === 'crash' && this.destroys(fault)) {
      this.destroyedMs = world.nowMs;
      if (this.cluster.member(fault.member).up) judge.lostCopies.destroy(fault.member, fault.stays);
    }
    const undo = inflict(fault, this.cluster, this.operator);
    if (fault.kind === 'rot') judge.lostCopies.damage(fault.member);
    this.undos.set(fault, undo);
    world.after(fault.forMs, () => this.undo(fault));
  }

  /**
   * Whether the fault takes a copy away for good. A leaving member does too, if the members that take its timers cannot
   * keep them.
   */
  private destroys(fault: Fault): boolean {
    if (fault.kind === 'crash') return fault.wipe || fault.stays || !this.plan.durable;
    if (fault.kind === 'drain' || fault.kind === 'etcd-cut') return !this.isIntact;
    return fault.kind === 'rot';
  }

  /** Never the last intact copy: no cluster could keep its promises then. */
  private mayDestroy(): boolean {
    const { world, operator, alone } = this;
    if (operator.activeNames.length < 2 || world.nowMs - alone.lastMs < repairMs) return false;
    return this.isIntact && world.nowMs - this.destroyedMs >= repairMs;
  }

  private get isIntact(): boolean {
    return [...this.cluster.members.values()].every(({ intact }) => intact);
  }

  /** Timers of a member that is alone have one copy: destroying it then proves nothing. */
  private watchAlone(): void {
    const { world, operator, alone } = this;
    if (operator.activeNames.length < 2) alone.lastMs = world.nowMs;
    world.after(1000, () => this.watchAlone());
  }

  private undo(fault: Fault): void {
    const undo = this.undos.get(fault);
    this.undos.delete(fault);
    undo?.();
  }

  private heal(): void {
    this.world.trace.note(this.world.nowMs, 'everything heals');
    for (const fault of this.undos.keys()) this.undo(fault);
  }

  /** The steps of one client, or of two in turn, with one timer. */
  private async script(plan: TimerPlan): Promise<void> {
    const { keyed, batched, steps, strangers, seed } = plan;
    const { world, client } = this;
    const { namespace = 'default', tagged = false } = plan;
    const tag = tagged ? `timer-${this.history.timers.length}` : null;
    const timer = this.history.timer({ namespace, tag });
    const random = new SeededRandom(seed);
    const other = strangers === true ? new SeenVersion() : timer.seen;
    const clients = [timer.seen, other] as const;
    for (const [i, { waitMs, does, wish, byTag = false }] of steps.entries()) {
      await world.sleep(waitMs);
      timer.seen = clients[i % 2] ?? other;
      // Without an id there is nothing to go on with: the client never heard of its timer.
      if (timer.operations.length > 0 && timer.id === null) return;
      if (does === 'set' && wish !== null) await client.set(timer, wish, { keyed, batched });
      else if (does === 'cancel') await client.cancel(timer, byTag);
      else await this.read(timer, random);
    }
  }

  /** Sends some of the dead letters again, or discards them. */
  private async lookAfter({ does, ratio, seed }: LettersPlan): Promise<void> {
    const { clerk, cluster } = this;
    const random = new SeededRandom(seed);
    if (cluster.healthy.length === 0) return;
    const letters = await clerk.letters(random.pick(cluster.healthy).name);
    for (const letter of letters ?? []) {
      if (random.chance(ratio)) await clerk.handle(letter, does);
    }
  }

  /** Lists all timers, page after page, again and again. */
  private async listAgain({ forMs, limit, seed }: ReaderPlan): Promise<void> {
    const { world, cluster, anyMember } = this;
    const random = new SeededRandom(seed);
    const untilMs = world.nowMs + forMs;
    while (world.nowMs < untilMs) {
      await world.sleep(thinkMs);
      const { healthy } = cluster;
      if (healthy.length > 0) await anyMember.readPages(random.pick(healthy).name, limit);
    }
  }

  private async read(timer: History['timers'][number], random: SeededRandom): Promise<void> {
    const { healthy } = this.cluster;
    if (healthy.length === 0) return;
    const { name } = random.pick(healthy);
    const path = `/timers/${timer.id}`;
    const request = { method: 'GET', path, query: '', headers: {}, body: new Uint8Array() };
    const response = await this.client.ask(name, inNamespace(request, timer.namespace));
    if (response === null) return;
    const shown = response.status === 200 ? (JSON.parse(response.body) as Shown) : null;
    this.anyMember.onRead(timer, name, response.status, shown?.callback.http.opaque ?? null);
  }

  private createClient(random: SeededRandom): Client {
    const { cluster, history } = this;
    return new Client({
      cluster,
      history,
      random,
      contacts: () => [...cluster.members.keys()],
      onAck: (operation) => {
        this.judge.lostCopies.onAck(operation);
        for (const checker of this.checkers) checker.onAck?.(operation);
      },
      onRefused: (operation, response) => {
        const what = `operation ${operation.index} of timer ${operation.timer.index}`;
        this.judge.violate('P7', `A good request (${what}) was refused: ${response.body}`);
      },
    });
  }
}

interface Shown {
  readonly callback: { readonly http: { readonly opaque: string } };
}
