/**
 * Real etcd processes for tests and benchmarks: one or several on loopback ports and a scratch folder of their own,
 * to be killed, paused and started again. Everything ends with `stop`, or with this process.
 */
import {
  type ChildProcess,
  execFile,
  execFileSync,
  type SpawnOptions,
  spawn,
} from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { EtcdPaths } from './etcd.ts';

export interface EtcdClusterOptions {
  readonly paths: EtcdPaths;
  /** How many etcd processes; default 1. */
  readonly size?: number;
  /** The address they listen at; default 127.0.0.1. */
  readonly host?: string;
  /** Further arguments of each etcd. */
  readonly flags?: readonly string[];
  /** `https` with certificates that each etcd makes for itself (`--auto-tls`). */
  readonly tls?: boolean;
  /** The group each one runs as, for firewall rules about its packets; needs root. */
  readonly gidOf?: (index: number) => number;
  /** A second client port at each, so that a firewall can close one way in and leave the other. */
  readonly sideDoor?: boolean;
}

interface Process {
  readonly name: string;
  readonly clientPort: number;
  readonly sidePort: number;
  readonly peerPort: number;
  readonly folder: string;
  child: ChildProcess | null;
}

const readyMs = 30_000;
const loopback = '127.0.0.1';
/** An etcd without others elects itself after this time instead of a second or two. */
const lonely = ['--heartbeat-interval=10', '--election-timeout=100'];

export class EtcdCluster {
  private readonly options: EtcdClusterOptions;
  private readonly processes: readonly Process[];
  private readonly folder: string;
  private asRoot: readonly string[] = [];

  private constructor(options: EtcdClusterOptions, ports: readonly number[]) {
    this.options = options;
    this.folder = mkdtempSync(join(tmpdir(), 'carillon-etcd-'));
    this.processes = Array.from({ length: options.size ?? 1 }, (_, i) => ({
      name: `e${i}`,
      clientPort: ports[3 * i] as number,
      sidePort: ports[3 * i + 1] as number,
      peerPort: ports[3 * i + 2] as number,
      folder: join(this.folder, `e${i}`),
      child: null,
    }));
    process.once('exit', this.onExit);
  }

  static async start(options: EtcdClusterOptions): Promise<EtcdCluster> {
    const cluster = new EtcdCluster(
      options,
      await freePorts(3 * (options.size ?? 1), options.host ?? loopback),
    );
    cluster.processes.forEach((_, i) => cluster.launch(i));
    await cluster.ready();
    return cluster;
  }

  get size(): number {
    return this.processes.length;
  }

  get endpoints(): string[] {
    return this.processes.map((one) => this.endpointOf(one));
  }

  /** The same ones through the side door. */
  get sideEndpoints(): string[] {
    return this.processes.map((one) => `http://${this.host}:${one.sidePort}`);
  }

  sidePortOf(index: number): number {
    return (this.processes[index] as Process).sidePort;
  }

  /** The certificate an etcd with `tls` made for itself, as a path. */
  certificateOf(index: number): string {
    return join((this.processes[index] as Process).folder, 'fixtures/client/cert.pem');
  }

  clientPortOf(index: number): number {
    return (this.processes[index] as Process).clientPort;
  }

  peerPortOf(index: number): number {
    return (this.processes[index] as Process).peerPort;
  }

  kill(index: number): Promise<void> {
    return this.end(index, 'SIGKILL');
  }

  pause(index: number): void {
    this.processes[index]?.child?.kill('SIGSTOP');
  }

  /** Every etcd runs again: a test may have stopped or frozen some. */
  async restore(): Promise<void> {
    const isDown = this.processes.map(({ child }) => child === null);
    this.processes.forEach((_, i) => this.resume(i));
    isDown.forEach((down, i) => down && this.launch(i));
    if (isDown.includes(true)) await this.ready();
  }

  resume(index: number): void {
    this.processes[index]?.child?.kill('SIGCONT');
  }

  /** Starts a killed one again with the data it had. */
  launch(index: number): void {
    const one = this.processes[index] as Process;
    const options: SpawnOptions = { stdio: 'ignore' };
    if (this.options.gidOf !== undefined) options.gid = this.options.gidOf(index);
    const child = spawn(this.options.paths.etcd, this.flagsOf(one), options);
    child.on('exit', () => {
      if (one.child === child) one.child = null;
    });
    one.child = child;
  }

  /**
   * Resolves when a majority answers writes. Asks without blocking, so that a ring in this process goes on meanwhile.
   */
  async ready(): Promise<void> {
    const untilMs = Date.now() + readyMs;
    const put = this.words(['put', 'ready', '1', '--command-timeout=1s'], this.endpoints);
    for (;;) {
      try {
        await promisify(execFile)(this.options.paths.etcdctl, put, this.ctlOptions);
        return;
      } catch (error) {
        if (Date.now() > untilMs) throw new Error('etcd does not start.', { cause: error });
        await sleep(50);
      }
    }
  }

  /** Runs etcdctl against all endpoints, or one, and returns its output. */
  ctl(given: readonly string[], index?: number): string {
    const endpoints = index === undefined ? this.endpoints : [this.endpoints[index] as string];
    return execFileSync(this.options.paths.etcdctl, this.words(given, endpoints), {
      ...this.ctlOptions,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** From now on etcd asks for a password. `user` may read and write below the prefix, and nothing else. */
  requirePasswords(user: { name: string; password: string; prefix: string }): void {
    const { name, password, prefix } = user;
    this.ctl(['user', 'add', 'root:root']);
    this.ctl(['user', 'grant-role', 'root', 'root']);
    this.ctl(['user', 'add', `${name}:${password}`]);
    this.ctl(['role', 'add', name]);
    this.ctl(['role', 'grant-permission', name, 'readwrite', prefix, '--prefix=true']);
    this.ctl(['user', 'grant-role', name, name]);
    this.ctl(['auth', 'enable']);
    this.asRoot = ['--user=root:root'];
  }

  /** The index of the leader, asked at the members that answer; -1: none. */
  leader(): number {
    for (let i = 0; i < this.size; i++) {
      try {
        const [status] = JSON.parse(
          this.ctl(['endpoint', 'status', '-w', 'json', '--command-timeout=1s'], i),
        ) as { Status: { leader: number; header: { member_id: number } } }[];
        if (status?.Status.leader === status?.Status.header.member_id) return i;
      } catch {
        // Not this one.
      }
    }
    return -1;
  }

  /** The keys that are there, and how many leases. */
  contents(): { keys: string[]; leases: number } {
    const keys = this.ctl(['get', '', '--prefix', '--keys-only']).split('\n').filter(Boolean);
    const listed = this.ctl(['lease', 'list']).split('\n').filter(Boolean);
    return { keys: keys.filter((key) => key !== 'ready'), leases: listed.length - 1 };
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((_, i) => this.kill(i)));
    rmSync(this.folder, { recursive: true, force: true });
    process.off('exit', this.onExit);
  }

  private readonly onExit = (): void => {
    for (const one of this.processes) one.child?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  };

  /** Arguments of etcdctl. */
  private words(given: readonly string[], endpoints: readonly string[]): string[] {
    const tls =
      this.options.tls === true ? ['--insecure-transport=false', '--insecure-skip-tls-verify'] : [];
    return [`--endpoints=${endpoints.join()}`, ...tls, ...this.asRoot, ...given];
  }

  private get ctlOptions() {
    const env = { ...process.env, ETCDCTL_API: '3' };
    return { encoding: 'utf8' as const, timeout: 10_000, env };
  }

  private get host(): string {
    return this.options.host ?? loopback;
  }

  private endpointOf(one: Process): string {
    return `${this.options.tls === true ? 'https' : 'http'}://${this.host}:${one.clientPort}`;
  }

  private doorsOf(one: Process): string[] {
    const main = this.endpointOf(one);
    return this.options.sideDoor === true ? [main, `http://${this.host}:${one.sidePort}`] : [main];
  }

  private flagsOf(one: Process): string[] {
    const peer = ({ peerPort }: Process): string => `http://${this.host}:${peerPort}`;
    return [
      `--name=${one.name}`,
      `--data-dir=${one.folder}`,
      `--listen-client-urls=${this.doorsOf(one).join()}`,
      `--advertise-client-urls=${this.endpointOf(one)}`,
      `--listen-peer-urls=${peer(one)}`,
      `--initial-advertise-peer-urls=${peer(one)}`,
      `--initial-cluster=${this.processes.map((each) => `${each.name}=${peer(each)}`).join()}`,
      ...(this.size === 1 ? lonely : []),
      ...(this.options.tls === true ? ['--auto-tls'] : []),
      ...(this.options.flags ?? []),
    ];
  }

  private end(index: number, signal: NodeJS.Signals): Promise<void> {
    const one = this.processes[index] as Process;
    const { child } = one;
    if (child === null || child.exitCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.kill(signal);
      // A paused process takes SIGKILL at once, everything else only when it runs again.
      child.kill('SIGCONT');
    });
  }
}

/** Ports that were free a moment ago, all different. */
async function freePorts(count: number, host: string): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve, reject) => {
          server.once('error', reject);
          server.listen(0, host, () => resolve((server.address() as { port: number }).port));
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
