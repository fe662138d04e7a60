/**
 * A cluster for written stories: members by name, time in seconds since the story began, and pops as a receiver would
 * list them. Everything is as in the simulation of seeds; only the plan is written by hand.
 */
import type { TimerRecord } from '@carillon/core';
import type { ApiRequest, ApiResponse } from '@carillon/server/internal';
import { SeenVersion } from './history.ts';
import { EtcdMeeting } from './operator.ts';
import type { ReceivedCall } from './world/calls.ts';
import { headerOf, SimCluster, versionIn } from './sim-cluster.ts';
import { numbering } from './world/numbering.ts';
import { Trace } from './world/trace.ts';
import { viewMember } from './world/views.ts';
import { World } from './world/world.ts';

export interface StoryOptions {
  readonly members: readonly string[];
  readonly durable?: boolean;
  readonly etcd?: boolean;
  readonly seed?: number;
  /** Options of the members by dotted name. */
  readonly config?: ReadonlyMap<string, unknown>;
}

export interface Wish {
  readonly seconds: number;
  /** Instead of `seconds` and `times`, as clients write it. */
  readonly timing?: object;
  /** Pops; default 1. */
  readonly times?: number;
  readonly factor?: number;
  readonly receiver?: string;
  readonly opaque?: string;
  readonly retry?: object;
}

export interface StoryTimer {
  readonly id: string;
  /** Primary first. */
  readonly replicas: readonly string[];
  /** `Carillon-Copies` of the answer. */
  readonly copies: string;
}

export interface StoryLetter {
  readonly id: string;
  readonly sequence: number;
  readonly missed: number;
  readonly attempts: number;
  readonly callback: { readonly http: { readonly opaque: string } };
  /** Members that hold it, primary first. */
  readonly replicas: readonly string[];
}

export interface Pop {
  /** Since the story began, to a tenth of a second. */
  readonly at: number;
  readonly by: string;
  readonly sequence: number;
}

/** One request of a client. */
export interface Asked {
  readonly method: string;
  /** With the query, if there is one. */
  readonly path: string;
  readonly content?: object;
  /** The member that is asked; by default the first that serves. */
  readonly via?: string | undefined;
}

/** A request takes about a millisecond: time enough for its answer, and for the work that follows from it. */
const answerMs = 2500;

export class Story {
  readonly cluster: SimCluster;
  readonly etcd: EtcdMeeting | null;
  readonly bugs: string[] = [];
  /** Namespace of all requests from now on. */
  namespace = 'default';
  private beganMs = 0;
  /** All requests are of one client, until it is forgotten. */
  private seen = new SeenVersion();

  private constructor(options: StoryOptions) {
    const world = new World(new Trace(false));
    const meeting = options.etcd === true ? new EtcdMeeting(world, 1) : null;
    this.etcd = meeting;
    this.cluster = new SimCluster({
      seed: options.seed ?? 1,
      world,
      durable: options.durable ?? true,
      ...(options.config !== undefined && { config: options.config }),
      ...(meeting !== null && {
        source: (cluster, process) => meeting.source(process, cluster.random.fork()),
      }),
      onBug: (what) => this.bugs.push(what),
    });
  }

  /** Starts the members and lets them find each other. */
  static async begin(options: StoryOptions): Promise<Story> {
    const story = new Story(options);
    const { cluster } = story;
    for (const name of options.members) cluster.add(name);
    cluster.views.change(options.members.map((name) => viewMember(name)));
    for (const member of cluster.members.values()) member.start();
    await cluster.world.run(5000);
    story.zero();
    return story;
  }

  /** The story begins now. */
  zero(): void {
    this.beganMs = this.cluster.world.nowMs;
  }

  get seconds(): number {
    return (this.cluster.world.nowMs - this.beganMs) / 1000;
  }

  /** Lets everything happen up to this moment of the story. */
  until(seconds: number): Promise<void> {
    return this.cluster.world.run(this.beganMs + seconds * 1000);
  }

  pass(seconds: number): Promise<void> {
    return this.until(this.seconds + seconds);
  }

  async set(wish: Wish, via?: string): Promise<StoryTimer> {
    const content = timerBody(wish);
    return this.timerOf(await this.request({ method: 'POST', path: '/timers', content, via }));
  }

  async replace(id: string, wish: Wish, via?: string): Promise<StoryTimer> {
    const path = `/timers/${id}`;
    return this.timerOf(await this.request({ method: 'PUT', path, content: timerBody(wish), via }));
  }

  async cancel(id: string, via?: string): Promise<ApiResponse> {
    return this.ask('DELETE', `/timers/${id}`, via);
  }

  /** One request to one member; throws when no answer came. */
  async ask(method: string, path: string, via?: string): Promise<ApiResponse> {
    return this.request({ method, path, via });
  }

  /** Lets time pass until the answer is there; throws when none came. */
  async request(asked: Asked): Promise<ApiResponse> {
    const { world } = this.cluster;
    const sentMs = world.nowMs;
    const heard: (ApiResponse | null)[] = [];
    this.send(asked, (answer) => heard.push(answer));
    for (let i = 1; i <= answerMs && heard.length === 0; i++) await world.run(sentMs + i);
    const [response = null] = heard;
    if (response === null) {
      const { via = this.anyone(), method, path } = asked;
      throw new Error(`${via} did not answer ${method} ${path}.`);
    }
    const version = versionIn(response);
    if (version !== null) this.seen.add(version);
    return response;
  }

  /** The timer as the member shows it; null when the member knows none. */
  async shown(id: string, via: string): Promise<Record<string, unknown> | null> {
    const { status, body: text } = await this.ask('GET', `/timers/${id}`, via);
    return status === 404 ? null : (JSON.parse(text) as Record<string, unknown>);
  }

  /** The record of a timer in a member's store. */
  record(id: string, at: string): TimerRecord | undefined {
    const { hi, lo } = numbering.inside(this.namespace, {
      hi: Number.parseInt(id.slice(0, 8), 16),
      lo: Number.parseInt(id.slice(8, 16), 16),
    });
    return this.cluster.member(at).member?.store.get(hi, lo);
  }

  /** Members that hold the timer alive. */
  holders(id: string): string[] {
    return [...this.cluster.members.keys()].filter((name) => this.record(id, name)?.state === 0);
  }

  /** The next request comes from a client that has seen no earlier answers. */
  forget(): void {
    this.seen = new SeenVersion();
  }

  calls(id: string): ReceivedCall[] {
    return this.cluster.receivers.calls.filter(({ number }) => number === id.slice(0, 16));
  }

  /** All callbacks of a timer, delivered or not. */
  pops(id: string): Pop[] {
    return this.calls(id).map(({ startMs, by, sequence }) => ({
      at: Math.round((startMs - this.beganMs) / 100) / 10,
      by,
      sequence,
    }));
  }

  /** Cuts two members off from each other; the returned function mends that. */
  part(a: string, b: string): () => void {
    const mends = [this.cluster.cables.cut(a, b), this.cluster.cables.cut(b, a)];
    return () => {
      for (const mend of mends) mend();
    };
  }

  /** All dead letters, as a member shows them. */
  async deadLetters(via?: string): Promise<readonly StoryLetter[]> {
    const { body: text } = await this.ask('GET', '/dead-letters', via);
    return (JSON.parse(text) as { 'dead-letters': StoryLetter[] })['dead-letters'];
  }

  /**
   * Sends one request and does not wait: `answered` is called while the story goes on, with null when the member does
   * not listen.
   */
  send(asked: Asked, answered: (response: ApiResponse | null) => void): void {
    const { cluster } = this;
    const { method, content = null, via = this.anyone() } = asked;
    const [path = '', query = ''] = asked.path.split('?');
    const request: ApiRequest = {
      method,
      path,
      query,
      headers: {
        accept: 'application/json',
        'carillon-namespace': this.namespace,
        ...this.seen.headers,
      },
      body: content === null ? new Uint8Array() : Buffer.from(JSON.stringify(content)),
    };
    const sentMs = cluster.world.nowMs;
    const attempt = { member: via, sentMs, arrivedMs: null, settledMs: null, status: null };
    cluster.send(attempt, request, answered);
  }

  private anyone(): string {
    return this.cluster.healthy[0]?.name ?? '';
  }

  private timerOf(response: ApiResponse): StoryTimer {
    if (response.status !== 200) throw new Error(`${response.status}: ${response.body}`);
    const { id, replicas } = JSON.parse(response.body) as StoryTimer;
    return { id, replicas, copies: headerOf(response, 'carillon-copies') ?? '' };
  }
}

export function timerBody({
  timing,
  factor = 2,
  receiver = 'r0',
  opaque = '',
  retry,
  ...wish
}: Wish) {
  return {
    timing: timing ?? timingOf(wish),
    callback: {
      http: { uri: `http://${receiver}/pop`, opaque },
      ...(retry !== undefined && { retry }),
    },
    reliability: { 'replication-factor': factor },
  };
}

function timingOf({ seconds, times = 1 }: Wish) {
  return times > 1 ? { interval: seconds, 'repeat-for': seconds * times } : { interval: seconds };
}
