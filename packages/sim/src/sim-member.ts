/**
 * One place in a simulated cluster: a name, a disk, a clock that may be wrong, and at most one running member. Starts,
 * crashes, pauses and restarts it; the member itself is the production code.
 */
import { type Clock, DiskError, type Log } from '@carillon/core';
import { MemoryDisk, SeededRandom } from '@carillon/core/testing';
import { type Config, Member, type ViewSource } from '@carillon/server/internal';
import type { FaultLog } from './world/fault-log.ts';
import type { Cables } from './world/network.ts';
import { numbering } from './world/numbering.ts';
import { type ClockFaults, Process } from './world/process.ts';
import type { Receivers } from './world/receivers.ts';
import { isReplaced, type Rot, rot } from './rot/rot.ts';
import { thriftyDisk } from './world/thrifty-disk.ts';
import type { World } from './world/world.ts';

export interface SimResources {
  readonly world: World;
  readonly faults: FaultLog;
  readonly cables: Cables;
  readonly receivers: Receivers;
  readonly config: Config;
  readonly durable: boolean;
  readonly source: (process: Process) => ViewSource;
  readonly onBug: (what: string) => void;
}

/** How a program ends. */
export interface Crash {
  /** The machine lost power: bytes that were not synced are gone or torn. False: only the program ended. */
  readonly power: boolean;
  /** The disk is replaced by an empty one. */
  readonly wipe: boolean;
}

/**
 * A slow machine is no fault up to here: "A member that gets no processor for up to a second comes late, not twice."
 */
const stallMsMax = 1000;

export class SimMember {
  readonly name: string;
  readonly clock: ClockFaults;
  private readonly resources: SimResources;
  private readonly random: SeededRandom;
  private disk: MemoryDisk | null;
  private process: Process | null = null;
  private running: Member | null = null;
  private ends: ((toMs: number) => void)[] = [];
  private startedMs = 0;
  private leftMs: number | null = null;
  /** A program that was told to stop, while it finishes its work; `again`: it is started again after that. */
  private stopping: { again: boolean } | null = null;
  /** Files up to this number were damaged; 0: none. */
  private rottenNumber = 0;
  /** The program that ended last, while its records are on the disk. */
  private ended: Member | null = null;
  /** Why the program stands still. */
  private readonly stands = new Set<'pause' | 'stall'>();
  /** Called when the member ended by itself: its disk failed. */
  onExit: () => void = () => {};
  /** Called when the member has started and serves. */
  onServes: () => void = () => {};

  constructor(name: string, resources: SimResources, seed: number, clock: ClockFaults) {
    this.name = name;
    this.resources = resources;
    this.clock = clock;
    this.random = new SeededRandom(seed);
    this.ends.push(resources.faults.begin(name, 'down', 'not started yet', resources.world.nowMs));
    this.disk = resources.durable
      ? new MemoryDisk({ clock: this.diskClock(), latencyMs: 1 })
      : null;
  }

  /** The member, once it serves; null while it is down or starting. */
  get member(): Member | null {
    return this.running;
  }

  /**
   * The member that serves; while it is down or starting, the one whose records are on its disk; null: there is
   * neither.
   */
  get last(): Member | null {
    return this.running ?? this.ended;
  }

  get up(): boolean {
    return this.process !== null;
  }

  get paused(): boolean {
    return this.stands.has('pause');
  }

  /** Serving and not standing still. */
  get healthy(): boolean {
    return this.running !== null && !this.paused;
  }

  get servingSinceMs(): number {
    return this.startedMs;
  }

  get drained(): boolean {
    return this.leftMs !== null;
  }

  get present(): Process | null {
    return this.process;
  }

  get storage(): MemoryDisk | null {
    return this.disk;
  }

  /** Whether its disk is undamaged: nothing was damaged, or a later snapshot has replaced the damaged files. */
  get intact(): boolean {
    if (this.rottenNumber > 0 && (this.disk === null || isReplaced(this.disk, this.rottenNumber))) {
      this.rottenNumber = 0;
    }
    return this.rottenNumber === 0;
  }

  /** Damages its disk; the member is not told. */
  rot(rots: readonly Rot[]): void {
    if (this.disk === null) return;
    this.rottenNumber = Math.max(this.rottenNumber, rot(this.disk, rots));
  }

  start(): void {
    if (this.stopping !== null) this.stopping.again = true;
    if (this.process !== null) return;
    const { world, onBug } = this.resources;
    this.leftMs = null;
    const process = new Process({
      name: this.name,
      world,
      faults: this.clock,
      baseMs: this.random.unit() * 1e7,
      onThrow: (error) => {
        onBug(`${this.name} threw: ${stackOf(error)}`);
        this.crash({ power: false, wipe: false });
      },
    });
    this.process = process;
    this.stands.clear();
    world.trace.note(world.nowMs, `${this.name} starts`);
    Member.start(this.options(process)).then(
      (member) => {
        if (!process.alive) return;
        this.running = member;
        this.ended = null;
        this.startedMs = world.nowMs;
        this.end();
        this.onServes();
        world.trace.note(world.nowMs, `${this.name} serves`);
      },
      (error: unknown) => {
        if (process.alive) this.notStarted(error);
      },
    );
  }

  crash({ power, wipe }: Crash): void {
    const { world, faults } = this.resources;
    const { process } = this;
    if (process === null) return;
    process.kill();
    process.refuses = !power;
    this.process = null;
    this.stopping = null;
    this.stands.clear();
    this.ended = wipe || this.disk === null ? null : this.last;
    this.running = null;
    world.trace.note(world.nowMs, `${this.name} crashes${power ? ' without power' : ''}`);
    if (this.disk !== null) this.disk = power ? this.disk.crash(this.random) : this.disk.kill();
    if (wipe) {
      this.disk?.wipe();
      this.rottenNumber = 0;
    }
    this.end();
    for (const kind of ['down', 'killed'] as const) {
      this.ends.push(faults.begin(this.name, kind, 'a crash', world.nowMs));
    }
  }

  /** Ends as on SIGTERM: the program finishes its calls, and tells of them, first. */
  async stop(): Promise<void> {
    const { world, faults } = this.resources;
    const { running, process, disk } = this;
    if (running === null || process === null || this.stopping !== null) return;
    world.trace.note(world.nowMs, `${this.name} is told to stop`);
    this.ends.push(faults.begin(this.name, 'down', 'told to stop', world.nowMs));
    const stopping = { again: false };
    this.stopping = stopping;
    await running.stop().catch(() => undefined);
    if (!process.alive) return;
    process.kill();
    process.refuses = true;
    this.process = null;
    this.stopping = null;
    this.stands.clear();
    this.ended = running;
    this.running = null;
    this.disk = disk?.kill() ?? null;
    world.trace.note(world.nowMs, `${this.name} has stopped`);
    if (stopping.again) this.start();
  }

  pause(): void {
    const { world, faults } = this.resources;
    if (this.process === null || this.paused) return;
    this.stands.add('pause');
    this.process.pause();
    world.trace.note(world.nowMs, `${this.name} stands still`);
    this.ends.push(faults.begin(this.name, 'paused', 'a pause', world.nowMs));
  }

  /**
   * The member gets no processor for so long: to the others as if it were paused, beyond a second. The operator does
   * not see it: the member is still counted as healthy.
   */
  stall(forMs: number): void {
    const { world, faults } = this.resources;
    const { process } = this;
    if (process === null || this.stands.size > 0) return;
    this.stands.add('stall');
    process.pause();
    world.trace.note(world.nowMs, `${this.name} gets no processor`);
    const kind = forMs > stallMsMax ? 'paused' : 'stalled';
    const end = faults.begin(this.name, kind, 'no processor', world.nowMs);
    world.after(forMs, () => {
      end(world.nowMs);
      if (this.process !== process) return;
      this.stands.delete('stall');
      if (this.stands.size === 0) process.resume();
    });
  }

  resume(): void {
    const { world } = this.resources;
    if (!this.paused) return;
    this.end();
    world.trace.note(world.nowMs, `${this.name} goes on`);
    this.stands.delete('pause');
    if (this.stands.size === 0) this.process?.resume();
  }

  /** Hands everything on and exits, as `carillon cluster drain` does. */
  async drain(): Promise<boolean> {
    const { world, faults } = this.resources;
    const { running, process } = this;
    if (running === null || process === null) return false;
    world.trace.note(world.nowMs, `${this.name} drains`);
    const end = faults.begin(this.name, 'view', 'it drains', world.nowMs);
    try {
      await running.drain();
      await running.stop();
    } catch (error) {
      end(world.nowMs);
      world.trace.note(world.nowMs, `${this.name} did not drain: ${String(error)}`);
      return false;
    }
    if (!process.alive) return false;
    end(world.nowMs);
    process.kill();
    process.refuses = true;
    this.process = null;
    this.running = null;
    this.ended = null;
    this.leftMs = world.nowMs;
    this.ends.push(faults.begin(this.name, 'down', 'it left', world.nowMs));
    world.trace.note(world.nowMs, `${this.name} has left`);
    return true;
  }

  private options(process: Process) {
    const { cables, receivers, config, source } = this.resources;
    return {
      name: this.name,
      env: {
        clock: process,
        random: this.random.fork(),
        log: this.log(),
        disk: this.disk === null ? null : thriftyDisk(this.disk),
        network: cables.join(process),
        callbacks: receivers.join(process),
      },
      config,
      source: source(process),
      release: { version: '0.0.0', runtime: 'simulated' },
      numbering,
      onFailed: (error: unknown) => this.failed(process, error),
    };
  }

  /** A failing disk or an etcd that is away prevents a start; the operator tries again. */
  private notStarted(error: unknown): void {
    const { world, onBug } = this.resources;
    world.trace.note(world.nowMs, `${this.name} could not start: ${String(error)}`);
    const name = error instanceof Error ? error.name : '';
    const isDisk = name === 'DiskError' && this.disk !== null && isUnwell(this.disk);
    if (!isDisk && name !== 'EtcdError') {
      onBug(`${this.name} could not start: ${stackOf(error)}`);
    }
    this.crash({ power: false, wipe: false });
    this.onExit();
  }

  /** The member says that it cannot go on. */
  private failed(process: Process, error: unknown): void {
    if (!process.alive) return;
    const { world, onBug } = this.resources;
    const { disk } = this;
    world.trace.note(world.nowMs, `${this.name} gives up: ${String(error)}`);
    // The disk may be well again by now: a member tidies up before it gives up. A failing disk explains no other error.
    const failures = disk?.failureCount ?? 0;
    if (failures === 0 || !(error instanceof DiskError) || error.kind !== 'failed') {
      onBug(`${this.name} gave up without a disk failure: ${stackOf(error)}`);
    }
    this.crash({ power: true, wipe: false });
    this.onExit();
  }

  private end(): void {
    for (const end of this.ends) end(this.resources.world.nowMs);
    this.ends = [];
  }

  /** Calls on the disk belong to the process that runs when they are made. */
  private diskClock(): Clock {
    const present = (): Clock => this.process ?? deadClock;
    return {
      now: () => present().now(),
      wall: () => present().wall(),
      at: (atMs, fn) => present().at(atMs, fn),
      soon: (fn) => present().soon(fn),
    };
  }

  private log(): Log {
    const { world } = this.resources;
    const line = (level: string) => (message: string, fields?: object) =>
      world.trace.note(
        world.nowMs,
        `${this.name} ${level}: ${message} ${JSON.stringify(fields ?? {})}`,
      );
    return { debug: line('debug'), info: line('info'), warn: line('warn'), error: line('error') };
  }
}

const deadClock: Clock = { now: () => 0, wall: () => 0, at: () => () => {}, soon: () => {} };

/** Whether a start can fail for the disk's sake: calls failed, or there is not room for everything. */
function isUnwell({ failureCount, capacityBytes }: MemoryDisk): boolean {
  return failureCount > 0 || Number.isFinite(capacityBytes);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
