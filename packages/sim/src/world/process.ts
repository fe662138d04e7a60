/**
 * One run of one member's program, from its start to its crash or exit. Everything the program waits for comes through
 * here: once it is dead nothing of it runs again, while it is paused everything is held. Its clocks are its own: the
 * monotonic one begins anywhere and may drift, the wall clock may be off and may be stepped.
 */
import type { Cancel, Clock } from '@carillon/core';
import { epochMs, grain, type World } from './world.ts';

export interface ClockFaults {
  /** How fast the monotonic and the wall clock run: 100 = a hundred millionths too fast. */
  driftPpm: number;
  /** How far the wall clock is off at the beginning of the world. */
  wallOffsetMs: number;
}

interface Held {
  readonly timer: boolean;
  readonly fn: () => void;
}

const tickMs = 1 / 1024;

export class Process implements Clock {
  readonly name: string;
  private readonly world: World;
  private readonly rate: number;
  private readonly bootMs: number;
  private readonly baseMs: number;
  private readonly faults: ClockFaults;
  private readonly onThrow: (error: unknown) => void;
  /** Dead: whether its machine still refuses connections in its name. */
  refuses = false;
  private isAlive = true;
  private isPaused = false;
  private held: Held[] = [];
  private endings: (() => void)[] = [];

  constructor(options: {
    name: string;
    world: World;
    faults: ClockFaults;
    /** The monotonic clock at the start. */
    baseMs: number;
    onThrow: (error: unknown) => void;
  }) {
    this.name = options.name;
    this.world = options.world;
    this.faults = options.faults;
    this.rate = 1 + options.faults.driftPpm / 1e6;
    this.bootMs = options.world.nowMs;
    this.baseMs = grain(options.baseMs);
    this.onThrow = options.onThrow;
  }

  get alive(): boolean {
    return this.isAlive;
  }

  kill(): void {
    this.isAlive = false;
    this.held = [];
    for (const fn of this.endings) fn();
    this.endings = [];
  }

  /** Calls `fn` when the program ends. */
  onEnd(fn: () => void): void {
    this.endings.push(fn);
  }

  pause(): void {
    this.isPaused = true;
  }

  /** As after SIGCONT: first the alarms that became due, then the frames that arrived, each in their order. */
  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    const { held } = this;
    this.held = [];
    const inOrder = [...held.filter(({ timer }) => timer), ...held.filter(({ timer }) => !timer)];
    for (const { timer, fn } of inOrder) this.world.after(0, () => this.deliver(timer, fn));
  }

  /** Something from outside reaches the program, now. */
  arrive(fn: () => void): void {
    this.deliver(false, fn);
  }

  now(): number {
    return this.localMs(this.world.nowMs);
  }

  wall(): number {
    const { driftPpm, wallOffsetMs } = this.faults;
    const { nowMs } = this.world;
    return Math.floor(epochMs + nowMs + wallOffsetMs + (nowMs * driftPpm) / 1e6);
  }

  at(atMs: number, fn: () => void): Cancel {
    let trueMs = grain(this.bootMs + (atMs - this.baseMs) / this.rate);
    while (this.localMs(trueMs) < atMs) trueMs += tickMs;
    let wanted = true;
    // An alarm may be cancelled while a pause holds it, after the world let go of it.
    const ring = (): void => {
      if (wanted) fn();
    };
    const event = this.world.at(trueMs, () => this.deliver(true, ring));
    return () => {
      wanted = false;
      event.fn = null;
    };
  }

  soon(fn: () => void): void {
    this.world.after(0, () => this.deliver(true, fn));
  }

  private localMs(trueMs: number): number {
    return this.baseMs + (trueMs - this.bootMs) * this.rate;
  }

  private deliver(timer: boolean, fn: () => void): void {
    if (!this.isAlive) return;
    if (this.isPaused) {
      this.held.push({ timer, fn });
      return;
    }
    try {
      fn();
    } catch (error) {
      this.onThrow(error);
    }
  }
}
