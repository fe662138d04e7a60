/**
 * `GET /events`: the state of this member and its cluster as server-sent events, one snapshot a second, for the
 * dashboard.
 *
 * E1  The cluster is looked at, and a snapshot written down, once a second, however many listen. While there is no
 *     listener and no member pops, every five seconds: the seconds in between are alike.
 * E2  A listener whose token is no longer accepted is told nothing more.
 * E3  No more than `listenerCountMax` listen at once, and half as many with tokens for one namespace; one that does not
 *     keep up is cut.
 */
import { type Cancel, CarillonError, type Clock, nextRoundMs } from '@carillon/core';
import type { Caller } from '../../access/access.ts';
import { anyNamespace } from '../../config/namespace.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { renderCluster } from './admin.ts';
import { ranges, type Sample, Samples } from './events-samples.ts';
import { type ApiRequest, type ApiResponse, jsonResponse } from '../../http/message.ts';
import { badRequest } from '../../http/problem.ts';
import type { Outflow } from '../../http/outflow.ts';
import { parametersOf } from '../query.ts';
import type { Route } from '../router.ts';
import type { MemberControl } from '../../request/service.ts';
import type { ClusterView } from '../../metrics/status.ts';

export const listenerCountMax = 64;
/** Listeners with tokens for one namespace, at most: a tenant leaves half of the places to others. */
const shareCountMax = listenerCountMax / 2;
/** A listener that leaves this much unread will not catch up. */
export const waitingBytesMax = 1024 * 1024;
const everyMs = 1000;
const quietMs = 5000;

export interface EventStreamOptions {
  readonly control: MemberControl;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Name of this member. */
  readonly self: string;
  readonly version: string;
  /** Replicas of a timer that names no factor. */
  readonly factor: number;
  /** Whether a caller may go on listening. */
  readonly knows: (caller: Caller) => boolean;
}

const headers = ['content-type', 'text/event-stream; charset=utf-8', 'cache-control', 'no-store'];

export class EventStream {
  private readonly options: EventStreamOptions;
  private readonly samples: Samples;
  private readonly listeners = new Map<Outflow, Caller>();
  private newest: string | null = null;
  /** The last one that samples were taken of. */
  private second = 0;
  private cancel: Cancel = () => {};
  readonly route: Route = {
    method: 'GET',
    path: '/events',
    needs: 'read',
    handle: (_, __, caller) => this.listen(caller),
  };
  readonly samplesRoute: Route = {
    method: 'GET',
    path: '/samples',
    needs: 'read',
    parameters: true,
    handle: (request) => this.range(request),
  };

  constructor(options: EventStreamOptions) {
    this.options = options;
    this.samples = new Samples(options.metrics);
  }

  start(): void {
    this.second = this.presentSecond();
    this.next();
  }

  stop(): void {
    this.cancel();
    for (const out of this.listeners.keys()) out.end();
  }

  private listen(caller: Caller): ApiResponse {
    if (this.listeners.size >= listenerCountMax) {
      throw new CarillonError(
        'overloaded',
        `${listenerCountMax} dashboards listen to this member already; open one at another member.`,
      );
    }
    if (caller.bound !== anyNamespace && this.countOf(caller.bound) >= shareCountMax) {
      throw new CarillonError(
        'overloaded',
        `${shareCountMax} dashboards of this namespace listen to this member already; open one at another member.`,
      );
    }
    return { status: 200, headers, body: '', stream: (out) => this.add(out, caller) };
  }

  /** Listeners with tokens for this namespace alone. */
  private countOf(namespace: string): number {
    let count = 0;
    for (const { bound } of this.listeners.values()) if (bound === namespace) count++;
    return count;
  }

  private range(request: ApiRequest): ApiResponse {
    const asked = parametersOf(request.query, ['range']).get('range') ?? '5m';
    const range = ranges.find((one) => one === asked);
    if (range === undefined) throw badRequest(`The range is one of ${ranges.join(', ')}.`);
    this.sample();
    const samples = this.samples.of(range);
    return jsonResponse({ range, samples }, 200, ['cache-control', 'no-store']);
  }

  private add(out: Outflow, caller: Caller): void {
    this.sample();
    this.listeners.set(out, caller);
    this.next();
    out.onClose(() => this.listeners.delete(out));
    out.write(event('history', this.samples.all));
    const [sample] = this.samples.all.slice(-1);
    if (this.newest === null && sample !== undefined) {
      this.newest = event('snapshot', this.snapshot(sample, this.options.control.cluster()));
    }
    if (this.newest !== null) out.write(this.newest);
  }

  private next(): void {
    const { clock } = this.options;
    const isQuiet = this.listeners.size === 0 && this.samples.isQuiet;
    this.cancel();
    this.cancel = clock.at(nextRoundMs(clock, isQuiet ? quietMs : everyMs), () => this.tick());
  }

  private tick(): void {
    const view = this.sample();
    const [sample] = this.samples.all.slice(-1);
    const isAwaited = this.listeners.size > 0 && view !== null && sample !== undefined;
    this.newest = isAwaited ? event('snapshot', this.snapshot(sample, view)) : null;
    for (const [out, caller] of this.listeners) this.tell(out, caller);
    this.next();
  }

  /** Takes the samples of the seconds that have passed since the last ones; null: none has. */
  private sample(): ClusterView | null {
    const { clock, metrics, control } = this.options;
    const second = this.presentSecond();
    const seconds = second - this.second;
    if (seconds === 0) return null;
    this.second = second;
    const view = control.cluster();
    this.samples.take({
      at: clock.wall(),
      seconds,
      lag: metrics.lag.newestMs,
      members: view.members,
    });
    return view;
  }

  private presentSecond(): number {
    return Math.floor(this.options.clock.now() / everyMs);
  }

  private tell(out: Outflow, caller: Caller): void {
    if (!this.options.knows(caller)) out.end();
    else if (out.waitingBytes > waitingBytesMax) out.cut();
    else if (this.newest !== null) out.write(this.newest);
  }

  private snapshot(sample: Sample, view: ClusterView) {
    const { control, metrics, self, version, factor } = this.options;
    return {
      self,
      version,
      factor,
      unready: control.unready(),
      cluster: renderCluster(view),
      timers: metrics.timers.values(),
      callbacks: {
        'in-flight': metrics.callbacksInFlight.value,
        queued: metrics.callbacksQueued.value,
        answers: metrics.callbackAnswers.counted(),
      },
      sample,
    };
  }
}

function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
