/**
 * The lock rings that this member can see in etcd, for `GET /locks` and the dashboard. It takes part in none of them: a
 * ring is read when a client asks, at most once a second however many ask.
 */
import { type Clock, type Log, sentenceOf } from '@carillon/core';
import { type Etcd, EtcdClient, type RingStatus, ringStatus } from '@carillon/ring';
import type { Config } from '../config/config.ts';
import { etcdAccess } from '../cluster/sources/etcd-access.ts';

export interface RingView {
  readonly name: string;
  /** null: etcd did not answer; `problem` says so. */
  readonly status: RingStatus | null;
  readonly problem: string | null;
}

export interface RingsOptions {
  readonly names: readonly string[];
  /** Called when a client asks for the first time. */
  readonly connect: () => Etcd;
  readonly clock: Clock;
}

const freshMs = 1000;

/** null: no etcd is configured, or no ring is to be shown. */
export function openRings(
  { locks, cluster, etcd }: Pick<Config, 'locks' | 'cluster' | 'etcd'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Rings | null {
  const endpoints = locks.etcdEndpoints.length > 0 ? locks.etcdEndpoints : cluster.etcdEndpoints;
  if (endpoints.length === 0 || locks.rings.length === 0) return null;
  const connect = (): Etcd => new EtcdClient({ endpoints, clock, log, ...etcdAccess(etcd) });
  return new Rings({ names: locks.rings, connect, clock });
}

export class Rings {
  private readonly options: RingsOptions;
  private etcd: Etcd | null = null;
  private newest: { readonly readMs: number; readonly views: Promise<RingView[]> } | null = null;

  constructor(options: RingsOptions) {
    this.options = options;
  }

  /** Never rejects: an error of a ring is in its view. */
  read(): Promise<readonly RingView[]> {
    const nowMs = this.options.clock.now();
    if (this.newest === null || nowMs - this.newest.readMs >= freshMs) {
      const views = Promise.all(this.options.names.map((name) => this.view(name)));
      this.newest = { readMs: nowMs, views };
    }
    return this.newest.views;
  }

  async close(): Promise<void> {
    await this.etcd?.close();
  }

  private async view(name: string): Promise<RingView> {
    try {
      this.etcd ??= this.options.connect();
      return { name, status: await ringStatus(this.etcd, name), problem: null };
    } catch (error) {
      return { name, status: null, problem: `etcd cannot be read: ${sentenceOf(error)}` };
    }
  }
}
