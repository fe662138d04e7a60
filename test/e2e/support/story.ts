/** A cluster of processes under load, the receiver of its callbacks, and the court that judges their history. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SeededRandom } from '@carillon/core/testing';
import type { TimerWish } from '../../../packages/sim/src/history.ts';
import { setMany } from './batch.ts';
import { Court } from './court.ts';
import { Load, type LoadOptions } from './load.ts';
import { RealCluster, type RealClusterOptions } from './real-cluster.ts';
import type { RealMember } from './real-member.ts';
import { latenessAt, Recorder } from './recorder.ts';
import { until } from './until.ts';

export interface StoryOptions extends RealClusterOptions {
  readonly load?: Partial<LoadOptions>;
  /** Where the receiver listens; default 127.0.0.1. */
  readonly receiverHost?: string;
}

/** The same on every run, unless the environment names another. */
const seed = Number(process.env['CARILLON_E2E_SEED'] ?? 1);

export class Story {
  readonly court = new Court();
  readonly recorder: Recorder;
  readonly random = new SeededRandom(seed);
  readonly cluster: RealCluster;
  readonly load: Load;
  readonly uri: string;
  private readonly forgotten = new Set<string>();

  private constructor(
    cluster: RealCluster,
    receiver: { readonly recorder: Recorder; readonly uri: string },
    load: Partial<LoadOptions>,
  ) {
    const { recorder, uri } = receiver;
    this.cluster = cluster;
    this.recorder = recorder;
    this.uri = uri;
    recorder.onCall = (call) => this.court.heard(call);
    this.load = new Load({
      history: this.court.history,
      seed,
      urls: () => this.known(),
      uri,
      setsPerSecond: 30,
      factor: 2,
      intervalMsMin: 2000,
      intervalMsMax: 3000,
      ...load,
    });
  }

  static async begin(options: StoryOptions): Promise<Story> {
    const cluster = await RealCluster.start(options);
    const recorder = new Recorder();
    const uri = await recorder.listen(options.receiverHost);
    return new Story(cluster, { recorder, uri }, options.load ?? {});
  }

  /** Clients no longer ask these members. */
  forget(...names: readonly string[]): void {
    for (const name of names) this.forgotten.add(name);
  }

  private known(): string[] {
    const members = [...this.cluster.members.values()];
    return members.filter(({ name }) => !this.forgotten.has(name)).map(({ url }) => url);
  }

  /** Timers in batches at all running members; their ids. */
  setMany(wishes: readonly Omit<TimerWish, 'receiver'>[]): Promise<string[]> {
    const { court, uri, cluster } = this;
    const urls = cluster.running.map(({ url }) => url);
    const full = wishes.map((wish) => ({ ...wish, receiver: 'recorder' }));
    return setMany({ court, urls, uri }, full);
  }

  /** Cancels timers of `setMany`. */
  async cancel(ids: readonly string[]): Promise<void> {
    const [member] = this.cluster.running;
    const timers = new Map(this.court.history.timers.map((timer) => [timer.id, timer]));
    for (const id of ids) {
      const sentMs = performance.now();
      const answer = await fetch(`${member?.url}/timers/${id}`, { method: 'DELETE' });
      const timer = timers.get(id);
      if (!answer.ok || timer === undefined) throw new Error(`${id} was not cancelled.`);
      const operation = this.court.history.operation(timer, 'cancel', null, false);
      const ackMs = performance.now();
      const { status } = answer;
      const attempt = { member: '', sentMs, arrivedMs: sentMs, settledMs: ackMs, status };
      operation.attempts.push(attempt);
      operation.ackMs = ackMs;
    }
  }

  /** A member dies at once, with its data kept, and stays so until `start`. */
  async kill(member: RealMember): Promise<() => Promise<void>> {
    const over = this.court.fault('down', `${member.name} was killed`);
    await member.kill();
    return async () => {
      await member.start();
      over();
    };
  }

  async pause(member: RealMember, forMs: number): Promise<void> {
    const over = this.court.fault('paused', `${member.name} stood still for ${forMs} ms`);
    member.pause();
    await sleep(forMs);
    member.resume();
    over();
  }

  /** Members get no processor for moments, again and again, until the time is over. */
  async stall(members: readonly RealMember[], forMs: number, spanMsMax: number): Promise<void> {
    const untilMs = performance.now() + forMs;
    const one = async (member: RealMember): Promise<void> => {
      while (performance.now() < untilMs) {
        const over = this.court.fault('stalled', `${member.name} had no processor`);
        member.pause();
        await this.pass(200, spanMsMax);
        member.resume();
        over();
        await this.pass(200, 4 * spanMsMax);
      }
    };
    await Promise.all(members.map(one));
  }

  /** A span of the load, drawn anew each time. */
  async pass(msMin: number, msMax: number): Promise<void> {
    await sleep(msMin + this.random.unit() * (msMax - msMin));
  }

  /**
   * No more requests; resolves when no live timer is left anywhere. Prints a summary; returns broken promises, in
   * sentences.
   */
  async finish(title: string): Promise<string[]> {
    await this.load.stop();
    await until('every pop delivered and no timer left', 60_000, async () => {
      return this.court.completeAt(Infinity) && (await this.cluster.copies()) === 0;
    }).catch((error: unknown) => this.explain(error));
    console.log(`${title}: ${this.summary()}`);
    return [...this.court.verdict(Infinity), ...this.load.failures];
  }

  private async explain(error: unknown): Promise<void> {
    for (const member of this.cluster.running) {
      const copies = await member.copies();
      const cluster = JSON.stringify(await member.cluster());
      console.error(`${member.name} holds ${copies} timers\n${cluster}\n${member.lastWords}`);
    }
    console.error(error);
  }

  summary(): string {
    const { calls } = this.recorder;
    const timers = this.court.history.timers.length;
    const at = (share: number): string => `${latenessAt(calls, share)} ms`;
    return (
      `${timers} timers, ${this.load.failures.length} requests without success, ${calls.length} callbacks, ` +
      `${this.court.duplicates} of them repeated; lateness p50 ${at(0.5)}, p99 ${at(0.99)}, max ${at(1)}; ` +
      `the machine stalled for up to ${Math.round(this.court.stallMs)} ms`
    );
  }

  async end(): Promise<void> {
    await this.load.stop();
    await this.cluster.end();
    this.recorder.close();
    this.court.close();
  }
}
