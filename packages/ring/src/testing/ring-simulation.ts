/**
 * Whole rings in virtual time: several processes with the real ring code on one simulated etcd, work on a
 * few keys, and faults drawn from a seed. The checker watches from outside:
 *
 *   belief   never do two processes hold a lock on one key that both may trust
 *   linear   grants, moments of trust and ends of a key's locks fit into one line, along which tokens grow
 *   settled  after the faults every slot is owned exactly once, all views are equal, waiters get their lock
 *   left     after closing, etcd holds the config only
 */
import { sleep } from '@carillon/core';
import { SeededRandom, settle, VirtualClock } from '@carillon/core/testing';
import { LockLostError, LockTimeoutError } from '../errors.ts';
import type { Lock } from '../locks/lock.ts';
import { Ring } from '../ring.ts';
import { KeptLog } from './kept-log.ts';
import { LockRecorder } from './lock-recorder.ts';
import { ProcessClock } from './process-clock.ts';
import { type SimulatedClient, SimulatedEtcd } from './simulated-etcd.ts';

export interface SimulationOptions {
  readonly seed: number;
  /** Virtual time with faults; default 20 s. */
  readonly faultsMs?: number;
  /** Undefined: the ring's own. 0 must be caught by the checker. */
  readonly marginMs?: number;
}

export interface SimulationResult {
  readonly violations: readonly string[];
  readonly grants: number;
  readonly losses: number;
  readonly faults: number;
  /** Everything that happened, in order. */
  readonly trace: readonly string[];
}

const slots = 16;
const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
const ttlMs = 5000;
const drainMs = 2000;
const settleMs = 14_000;

interface Process {
  readonly name: string;
  readonly clock: ProcessClock;
  readonly client: SimulatedClient;
  ring: Ring | null;
  /** The locks that this process believes to hold, by key. */
  readonly locks: Map<string, Lock>;
}

export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const simulation = new RingSimulation(options);
  await simulation.run();
  return simulation.result();
}

class RingSimulation {
  private readonly options: SimulationOptions;
  private readonly clock = new VirtualClock();
  private readonly random: SeededRandom;
  private readonly etcd: SimulatedEtcd;
  private readonly processes: Process[] = [];
  private readonly trace: string[] = [];
  private readonly violations: string[] = [];
  private readonly recorder = new LockRecorder();
  private readonly nemesis: readonly (() => void)[];
  private grants = 0;
  private losses = 0;
  private faults = 0;
  private made = 0;
  private stopping = false;

  constructor(options: SimulationOptions) {
    this.options = options;
    this.random = new SeededRandom(options.seed);
    const delayMsMax = this.random.pick([1, 5, 50, 300]);
    const seed = this.random.u32();
    this.etcd = new SimulatedEtcd({ clock: this.clock, seed, delayMsMax });
    // Not every fault in every run, so that rare pairs get their turn.
    this.nemesis = this.allFaults().filter(() => this.random.chance(0.5));
  }

  async run(): Promise<void> {
    const count = this.random.between(2, 5);
    for (let i = 0; i < count; i++) this.startProcess();
    const faultsMs = this.options.faultsMs ?? 20_000;
    if (this.nemesis.length > 0) this.scheduleFault(faultsMs);
    await this.advance(faultsMs);
    this.heal();
    await this.advance(settleMs);
    this.checkSettled();
    this.stopping = true;
    await this.closeAll();
    for (const line of this.recorder.violations()) this.violation(`linear: ${line}`);
  }

  result(): SimulationResult {
    const { violations, grants, losses, faults, trace } = this;
    return { violations, grants, losses, faults, trace };
  }

  private async advance(byMs: number): Promise<void> {
    const untilMs = this.clock.now() + byMs;
    for (let next = this.clock.nextMs(); next !== null && next <= untilMs; ) {
      this.clock.step();
      await settle();
      this.checkBeliefs();
      next = this.clock.nextMs();
    }
    await this.clock.advanceTo(untilMs);
  }

  private note(line: string): void {
    this.trace.push(`${this.clock.now().toFixed(3)} ${line}`);
  }

  private violation(line: string): void {
    this.note(`VIOLATION ${line}`);
    this.violations.push(`${this.clock.now().toFixed(1)} ${line}`);
  }

  private startProcess(): void {
    const name = `p${this.made++}`;
    const random = this.random.fork();
    const rate = 1 + (random.unit() - 0.5) * 0.04;
    const clock = new ProcessClock(this.clock, random, { rate, lagMsMax: random.pick([0, 5, 40]) });
    const client = this.etcd.connect(clock.run, clock);
    const process: Process = { name, clock, client, ring: null, locks: new Map() };
    this.processes.push(process);
    this.note(`start ${name}`);
    void this.live(process, random);
  }

  /** The life of one process: opens a ring, adds members, works. */
  private async live(process: Process, random: SeededRandom): Promise<void> {
    const { clock, client, name } = process;
    const { marginMs } = this.options;
    const log = new KeptLog();
    const shared = { etcd: client, clock, random, log, prefix: 'sim', slots, ttlMs, drainMs };
    try {
      process.ring = await Ring.open(marginMs === undefined ? shared : { ...shared, marginMs });
    } catch {
      // etcd is away. The process gives up, as a real one might, and another one is started.
      this.note(`${name} cannot open`);
      this.forget(process);
      if (!this.stopping) this.startProcess();
      return;
    }
    const members = random.between(1, 2);
    for (let i = 0; i < members; i++) await this.addMember(process, `${name}-${i}`);
    const workers = random.between(1, 4);
    for (let i = 0; i < workers; i++) void this.work(process, random.fork());
  }

  private async addMember(process: Process, id: string): Promise<void> {
    const { ring, clock } = process;
    while (process.ring !== null && process.ring === ring) {
      try {
        await ring.addMember(id);
        return;
      } catch {
        await sleep(clock, 300);
      }
    }
  }

  private async work(process: Process, random: SeededRandom): Promise<void> {
    const { clock } = process;
    while (process.ring !== null && !this.stopping) {
      await sleep(clock, random.unit() * 800);
      const key = random.pick(keys);
      try {
        const durable = random.chance(0.1);
        const askedMs = this.clock.now();
        const lock = await process.ring?.lock(key, { timeoutMs: random.between(1, 8000), durable });
        if (lock !== undefined) await this.hold(process, { lock, askedMs }, random);
      } catch (error) {
        const known = error instanceof LockTimeoutError || error instanceof LockLostError;
        if (!known && process.ring !== null) this.note(`${process.name} ${String(error)}`);
      }
    }
  }

  private async hold(
    process: Process,
    { lock, askedMs }: { readonly lock: Lock; readonly askedMs: number },
    random: SeededRandom,
  ): Promise<void> {
    this.onGrant(process, lock);
    const asked = { fromMs: askedMs, toMs: this.clock.now() };
    const recorded = this.recorder.grant(lock.key, lock.token, asked);
    const steps = random.between(0, 4);
    for (let i = 0; i < steps; i++) {
      await sleep(process.clock, random.unit() * (random.chance(0.1) ? 4000 : 300));
      if (lock.remainingMs() <= 0) break;
      this.recorder.check(recorded, this.clock.now(), this.clock.now());
      if (lock.revoking.aborted && random.chance(0.7)) break;
    }
    if (lock.lost.aborted) this.losses++;
    if (process.locks.get(lock.key) === lock) process.locks.delete(lock.key);
    this.note(`${process.name} done ${lock.key} ${lock.token}`);
    const released = lock.release();
    this.recorder.end(recorded, this.clock.now());
    await released;
  }

  private onGrant(process: Process, lock: Lock): void {
    this.grants++;
    const { key, token } = lock;
    this.note(`${process.name} granted ${key} ${token}`);
    process.locks.set(key, lock);
    lock.lost.addEventListener('abort', () => this.note(`${process.name} lost ${key}`));
  }

  /** `belief`, asked of every process as it would answer itself at this very moment. */
  private checkBeliefs(): void {
    const believers = new Map<string, string>();
    for (const { name, locks } of this.processes) {
      for (const [key, lock] of locks) {
        // A paused process is asked too: it could go on at any moment.
        if (lock.remainingMs() <= 0) continue;
        const other = believers.get(key);
        if (other !== undefined) this.violation(`belief: ${name} and ${other} both hold ${key}`);
        believers.set(key, name);
      }
    }
  }

  private scheduleFault(untilMs: number): void {
    const atMs = this.clock.now() + this.random.unit() * 3000;
    if (atMs >= untilMs) return;
    this.clock.at(atMs, () => {
      this.faults++;
      this.random.pick(this.nemesis)();
      this.scheduleFault(untilMs);
    });
  }

  private allFaults(): (() => void)[] {
    const { random, etcd } = this;
    const later = (fn: () => void, msMax: number): void => {
      this.clock.at(this.clock.now() + random.unit() * msMax, fn);
    };
    const some = (): Process => random.pick(this.processes);
    return [
      () => {
        const { client, name } = some();
        this.note(`cut ${name}`);
        client.cut = true;
        later(() => (client.cut = false), 10_000);
      },
      () => {
        const { clock, name } = some();
        this.note(`pause ${name}`);
        clock.pause();
        later(() => clock.resume(), 15_000);
      },
      () => this.killOne(some()),
      () => {
        this.note('etcd away');
        etcd.away = true;
        later(() => (etcd.away = false), 9000);
      },
      () => etcd.compact(),
      () => {
        const { client } = some();
        client.answerLossRatio = random.unit() * 0.5;
        later(() => (client.answerLossRatio = 0), 8000);
      },
      () => {
        const { client } = some();
        client.lateRatio = random.unit() * 0.4;
        later(() => (client.lateRatio = 0), 8000);
      },
      () => {
        const { clock } = some();
        clock.wallStepMs += (random.unit() - 0.5) * 20_000;
      },
      () => void this.replaceMember(some()),
    ];
  }

  private killOne(process: Process): void {
    this.note(`kill ${process.name}`);
    this.forget(process);
    this.startProcess();
  }

  private forget(process: Process): void {
    process.clock.kill();
    void process.client.close();
    process.locks.clear();
    process.ring = null;
    this.processes.splice(this.processes.indexOf(process), 1);
  }

  private async replaceMember(process: Process): Promise<void> {
    const { ring, name } = process;
    const [id] = ring?.view.members.filter((member) => member.id.startsWith(`${name}-`)) ?? [];
    if (ring === null || id === undefined) return;
    this.note(`replace ${id.id}`);
    try {
      await ring.removeMember(id.id);
    } catch {
      // Another step is already removing the member.
    }
    await this.addMember(process, `${name}-${this.random.between(2, 9)}`);
  }

  private heal(): void {
    this.note('heal');
    this.etcd.away = false;
    for (const { clock, client } of this.processes) {
      clock.resume();
      client.cut = false;
      client.answerLossRatio = 0;
      client.lateRatio = 0;
    }
  }

  private checkSettled(): void {
    const open = this.processes.filter((process) => process.ring !== null);
    const views = open.map(({ ring }) =>
      (ring?.view.members ?? []).map((member) => `${member.id}@${member.incarnation}`).join(' '),
    );
    if (new Set(views).size > 1) this.violation(`settled: views differ: ${views.join(' | ')}`);
    const owned = open.flatMap(({ ring }) => ring?.ownedSlots() ?? []).toSorted((a, b) => a - b);
    if (views[0] !== '' && owned.length !== slots) {
      this.violation(`settled: ${owned.length} of ${slots} slots are owned: ${owned.join()}`);
    }
    if (new Set(owned).size !== owned.length) this.violation(`settled: slots owned twice`);
  }

  private async closeAll(): Promise<void> {
    const open = this.processes.filter((process) => process.ring !== null);
    const closings = open.map(({ ring }) => ring?.close() ?? Promise.resolve());
    await this.advance(drainMs + 6000);
    const outcomes = await Promise.race([
      Promise.allSettled(closings).then(() => 'closed'),
      settle().then(() => 'open'),
    ]);
    if (outcomes !== 'closed') this.violation('left: a ring does not close');
    for (const { ring, name } of open) {
      const count = ring?.lockCount ?? 0;
      if (count !== 0) this.violation(`left: ${name} still counts ${count} locks`);
    }
    await this.advance(7000);
    const left = [...this.etcd.store.entries.keys()].filter((key) => key !== 'sim/config');
    if (left.length > 0) this.violation(`left: ${left.join()}`);
    if (this.etcd.store.leases.size > 0)
      this.violation(`left: ${this.etcd.store.leases.size} leases`);
  }
}
