/**
 * Looks at the members while they are under load: four times a second how long each waited for a processor, each
 * second their memory and how late the callbacks of that second came; and all the while whether this process itself,
 * which holds the receiver, could look.
 */
import { latenessAt } from '../e2e/support/recorder.ts';
import { type ProcessReading, procObstacle, readProcess, readStolenMs } from './proc.ts';
import type { Scene } from './scene.ts';
import { type Span, starvedIn, stolenMs, waitedMs } from './starvation.ts';

export interface Sample {
  /** On the clock of windows and sentences, which begins with the program. */
  readonly second: number;
  /** By name; members that do not run are left out. */
  readonly members: Readonly<Record<string, MemberSample>>;
  readonly callbacks: number;
  /** null: there were no callbacks. */
  readonly p50Ms: number | null;
  readonly p99Ms: number | null;
}

export interface MemberSample {
  readonly pid: number;
  readonly rssBytes: number;
  /** For a processor, within this second. */
  readonly waitedMs: number;
}

const lookMs = 25;
const readMs = 250;
const sampleMs = 1000;
/** So late that a callback's arrival was noticed late. */
const blindMs = 25;

/** The members, and where their callbacks and their times without a processor are noted. */
type Watched = Pick<Scene, 'cluster' | 'recorder' | 'windows'>;

export class Sampler {
  readonly samples: Sample[] = [];
  readonly blind: Span[] = [];
  /** Why members cannot be looked at; null: they can. */
  readonly obstacle = procObstacle();
  private readonly scene: Watched;
  private readonly interval: NodeJS.Timeout;
  private readonly readings = new Map<string, ProcessReading>();
  private readonly waits = new Map<string, number>();
  private stolen: readonly number[];
  private lookedMs = performance.now();
  private readAtMs = performance.now();
  private sampledMs = performance.now();
  private seen = 0;

  constructor(scene: Watched) {
    this.scene = scene;
    this.stolen = this.obstacle === null ? readStolenMs() : [];
    // Waits before this moment belong to the start of the members.
    for (const { name, pid } of scene.cluster.members.values()) {
      const reading = pid === null || this.obstacle !== null ? null : readProcess(pid);
      if (reading !== null) this.readings.set(name, reading);
    }
    this.interval = setInterval(() => this.look(), lookMs);
  }

  stop(): void {
    clearInterval(this.interval);
    this.read(performance.now());
    this.sample(performance.now());
  }

  private look(): void {
    const nowMs = performance.now();
    if (nowMs - this.lookedMs > lookMs + blindMs) {
      this.blind.push({ fromMs: this.lookedMs, toMs: nowMs + lookMs });
    }
    this.lookedMs = nowMs;
    if (nowMs - this.readAtMs >= readMs) this.read(nowMs);
    if (nowMs - this.sampledMs >= sampleMs) this.sample(nowMs);
  }

  private read(nowMs: number): void {
    if (this.obstacle !== null) return;
    const stolen = readStolenMs();
    const takenMs = stolenMs(this.stolen, stolen);
    const looked = { fromMs: this.readAtMs, toMs: nowMs };
    this.stolen = stolen;
    this.readAtMs = nowMs;
    for (const { name, pid } of this.scene.cluster.members.values()) {
      const reading = pid === null ? null : readProcess(pid);
      if (reading === null) {
        this.readings.delete(name);
        continue;
      }
      const ms = waitedMs(this.readings.get(name) ?? null, reading) + takenMs;
      this.readings.set(name, reading);
      this.waits.set(name, (this.waits.get(name) ?? 0) + ms);
      const starved = starvedIn(looked, ms);
      if (starved !== null) this.scene.windows.starve(name, starved.fromMs, starved.toMs);
    }
  }

  private sample(nowMs: number): void {
    const { calls } = this.scene.recorder;
    const fresh = calls.slice(this.seen);
    this.seen = calls.length;
    this.sampledMs = nowMs;
    const at = (share: number): number | null =>
      fresh.length === 0 ? null : latenessAt(fresh, share);
    const members = [...this.readings].map(([name, { pid, rssBytes }]) => {
      return [name, { pid, rssBytes, waitedMs: this.waits.get(name) ?? 0 }] as const;
    });
    this.waits.clear();
    this.samples.push({
      second: Math.round(nowMs / 1000),
      members: Object.fromEntries(members),
      callbacks: fresh.length,
      p50Ms: at(0.5),
      p99Ms: at(0.99),
    });
  }
}
