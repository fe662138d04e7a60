/** Several members as processes, joined by a members file or by etcd, each on a loopback address of its own. */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RealMember } from './real-member.ts';
import { until } from './until.ts';

export interface RealClusterOptions {
  /** Names of the members that are there from the beginning. */
  readonly names: readonly string[];
  /** Endpoints; not given: a members file. */
  readonly etcd?: readonly string[];
  /** Where the member with this index listens; default: loopback. */
  readonly hostOf?: (index: number) => string;
  readonly viaOf?: (index: number) => readonly string[];
  readonly flags?: readonly string[];
  /** Besides `flags`, for one member. */
  readonly flagsOf?: (name: string) => readonly string[];
}

export type Phase = 'joining' | 'active' | 'leaving';

const port = 7253;
const peerPort = 7353;
const readyMs = 60_000;
let clusterCount = 0;

export class RealCluster {
  readonly members = new Map<string, RealMember>();
  private readonly options: RealClusterOptions;
  private readonly folder = mkdtempSync(join(tmpdir(), 'carillon-cluster-'));
  private readonly file = join(this.folder, 'members.json');
  /** Loopback addresses that no other process uses: no port can be taken. */
  private readonly net =
    `127.${1 + (process.pid % 250)}.${1 + ((process.pid >> 8) % 200) + clusterCount++}`;

  private constructor(options: RealClusterOptions) {
    this.options = options;
  }

  /** Resolves when all serve and see each other. */
  static async start(options: RealClusterOptions): Promise<RealCluster> {
    const cluster = new RealCluster(options);
    const members = options.names.map((name) => cluster.add(name));
    if (options.etcd === undefined) {
      cluster.writeMembers(Object.fromEntries(options.names.map((name) => [name, 'active'])));
    }
    await Promise.all(members.map((member) => member.start()));
    await cluster.seeEachOther();
    return cluster;
  }

  /** Makes a member known here; it runs after `start`. */
  add(name: string): RealMember {
    const { etcd, hostOf, viaOf, flagsOf, flags = [] } = this.options;
    const own = flagsOf?.(name) ?? [];
    const index = this.members.size;
    const host = hostOf?.(index) ?? `${this.net}.${index + 1}`;
    const address = `${host}:${port}`;
    const peer = `${host}:${peerPort}`;
    const views =
      etcd === undefined
        ? ['--members', this.file]
        : ['--etcd', etcd.join(), '--cluster', 'e2e', '--listen', address, '--peer-listen', peer];
    const data = ['--data', this.dataOf(name)];
    const args = ['--name', name, ...views, ...data, '--log-level', 'warn', ...flags, ...own];
    const member = new RealMember({ name, address, peer, args, via: viaOf?.(index) ?? [] });
    this.members.set(name, member);
    return member;
  }

  member(name: string): RealMember {
    const member = this.members.get(name);
    if (member === undefined) throw new Error(`There is no member ${name}.`);
    return member;
  }

  /** The data folder of a member. */
  dataOf(name: string): string {
    return join(this.folder, name);
  }

  get running(): RealMember[] {
    return [...this.members.values()].filter(({ running }) => running);
  }

  /** Replaces the members file in one step, as an editor or a config map does. */
  writeMembers(phases: Readonly<Record<string, Phase>>): void {
    const members = Object.entries(phases).map(([name, phase]) => {
      const { url, peer } = this.member(name);
      return { name, address: url.slice('http://'.length), peer, phase, weight: 1 };
    });
    writeFileSync(`${this.file}.new`, JSON.stringify({ members }));
    renameSync(`${this.file}.new`, this.file);
  }

  /** Every running member has every other in its view, active and answering. */
  async seeEachOther(): Promise<number> {
    return until('all members see each other', readyMs, async () => {
      const views = await Promise.all(this.running.map((member) => member.cluster()));
      const count = this.running.length;
      return views.every(
        ({ members }) =>
          members.length === count &&
          members.every(({ phase, reachable }) => phase === 'active' && reachable),
      );
    });
  }

  /** Copies of live timers in all running members. */
  async copies(): Promise<number> {
    const counts = await Promise.all(this.running.map((member) => member.copies()));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  async end(): Promise<void> {
    await Promise.all([...this.members.values()].map((member) => member.kill()));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
