/** A member on the real world: from a configuration to a process that serves. */
import { readFile } from 'node:fs/promises';
import type { Env, Log } from '@carillon/core';
import { SystemClock } from '@carillon/core/system';
import { EtcdClient, Membership } from '@carillon/ring';
import { openAccess } from './access/open-access.ts';
import { Dashboard } from './api/dashboard.ts';
import { Listener } from './api/listener.ts';
import { aloneSource } from './cluster/alone.ts';
import { EtcdSource } from './cluster/etcd.ts';
import { MembersFileError, parseMembers } from './cluster/members-file.ts';
import type { ViewSource } from './cluster/source.ts';
import { StaticSource } from './cluster/static.ts';
import type { ViewSpec } from './cluster/view.ts';
import { type Config, defaultConfig } from './config.ts';
import { etcdAccess } from './etcd-access.ts';
import { Member } from './member.ts';
import type { Metrics } from './metrics.ts';
import type { Endpoint } from './pop/guard.ts';
import { release } from './release.ts';
import { createLog, createSystemEnv, splitAddress } from './system-env.ts';
import { watchFile } from './watch-file.ts';

const leaseMs = 5000;
/** Ports of the peer listener follow the public one at this distance, unless configured. */
const peerPortOffset = 100;

export interface StartOptions {
  readonly config: Config;
  /** The member cannot go on; whoever runs it should end the process. */
  readonly onFailed: (error: unknown) => void;
  /** A drain has handed everything on. */
  readonly onDrained: () => void;
}

export interface RunningMember {
  readonly name: string;
  /** Where the API listens, port filled in. */
  readonly address: string;
  readonly member: Member;
  /** Reads the members file and the tokens again. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

/** Who this member is and where it listens. */
interface Identity {
  readonly name: string;
  readonly listen: string;
  readonly peerListen: string | null;
}

export async function startMember(options: StartOptions): Promise<RunningMember> {
  const { config } = options;
  const identity = await identify(config);
  const denied = new DeniedEndpoints(config, identity);
  const { name, listen, peerListen } = identity;
  const log = createLog(config.logLevel, name);
  // First of all: a member that must not start does not touch its data either.
  const gate = await openAccess({ config, listens: [listen], clock: new SystemClock(), log });
  const env = await createSystemEnv({
    config,
    name,
    release: release.version,
    listen,
    peerListen,
    denied: () => denied.all,
  });
  const source = createSource(config, identity, env);
  const dashboard = new Dashboard({
    clock: env.clock,
    self: name,
    version: release.version,
    factor: config.defaultFactor,
  });
  const member = await Member.start({
    name,
    env,
    config,
    source: overheard(source, (spec) => denied.addMembers(spec)),
    release,
    ...loggedEnds(options, log),
    access: gate.access,
    routes: dashboard.routes,
  });
  dashboard.start();
  readProcess(member.metrics);
  const listener = new Listener({
    router: member.router,
    limits: config.limits,
    metrics: member.metrics,
    clock: env.clock,
    random: env.random,
    beforeWork: member.poll,
  });
  const address = await listener.listen(listen);
  const timers = member.store.counts.live;
  log.info('The member serves.', { listen: address, peerListen, timers, ...release });
  return {
    name,
    address,
    member,
    reload: async () => {
      await gate.reload();
      if (source instanceof StaticSource) await source.reload();
    },
    stop: async () => {
      log.info('The member stops.');
      gate.close();
      dashboard.stop();
      await listener.close(config.shutdown.limitMs);
      await member.stop();
      await env.close();
    },
  };
}

/** How a member can end by itself. The stack of a bug is in the log only: people get the sentence. */
function loggedEnds(
  { onFailed, onDrained }: StartOptions,
  log: Log,
): Pick<StartOptions, 'onFailed' | 'onDrained'> {
  return {
    onFailed: (error) => {
      const stack = error instanceof Error ? error.stack : undefined;
      log.error('The member cannot go on.', { reason: String(error), stack });
      onFailed(error);
    },
    onDrained: () => {
      log.info('Every timer is handed on: the member leaves.');
      onDrained();
    },
  };
}

function readProcess(metrics: Metrics): void {
  metrics.residentBytes.read(() => process.memoryUsage.rss());
  metrics.heapBytes.read(() => process.memoryUsage().heapUsed);
  metrics.cpuSeconds.read(() => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}

async function identify(config: Config): Promise<Identity> {
  const { membersFile, etcdEndpoints, peerListen } = config.cluster;
  if (membersFile !== null) return identifyInFile(config, membersFile);
  if (etcdEndpoints.length === 0) {
    return { name: config.name ?? config.listen, listen: config.listen, peerListen: null };
  }
  const { host, port } = splitAddress(config.listen);
  const peers = peerListen ?? `${host.includes(':') ? `[${host}]` : host}:${port + peerPortOffset}`;
  const name = config.name ?? config.advertise.peer ?? peers;
  return { name, listen: config.listen, peerListen: peers };
}

async function identifyInFile(config: Config, file: string): Promise<Identity> {
  const members = parseMembers(await readFile(file, 'utf8'));
  const self = members.find(({ name }) => name === config.name);
  if (self === undefined) {
    const names = members.map(({ name }) => name).join(', ');
    throw new MembersFileError(
      `The members file ${file} lists ${names}, but not "${config.name ?? ''}": name this member with --name.`,
    );
  }
  const listen = config.listen === defaultConfig.listen ? self.address : config.listen;
  return { name: self.name, listen, peerListen: config.cluster.peerListen ?? self.peer };
}

function createSource(config: Config, identity: Identity, env: Env): ViewSource {
  const { clock, random, log } = env;
  const { membersFile, etcdEndpoints, labels, weight, name: cluster } = config.cluster;
  const { name, listen } = identity;
  if (membersFile !== null) {
    const read = (): Promise<string> => readFile(membersFile, 'utf8');
    return new StaticSource({
      file: membersFile,
      log,
      read,
      watch: (fn) => watchFile(membersFile, fn),
    });
  }
  if (etcdEndpoints.length === 0) return aloneSource({ name, address: listen });
  const etcd = new EtcdClient({
    endpoints: etcdEndpoints,
    clock,
    log,
    ...etcdAccess(config.etcd),
  });
  const peer = config.advertise.peer ?? identity.peerListen ?? '';
  return new EtcdSource({
    self: { name, address: listen, peer, labels, weight },
    joinWaitMs: leaseMs + 2000,
    clock,
    close: () => etcd.close(),
    open: () =>
      Membership.open({ etcd, clock, random, log, prefix: `carillon/${cluster}/`, ttlMs: leaseMs }),
  });
}

/** What no timer may call: the cluster itself. A new list with each view, so that kept connections are judged again. */
class DeniedEndpoints {
  private readonly fixed: readonly Endpoint[];
  all: readonly Endpoint[];

  constructor(config: Config, identity: Identity) {
    const etcd = config.cluster.etcdEndpoints.map((url) => {
      const { hostname, port, protocol } = new URL(url);
      return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
    });
    const own = [identity.listen, identity.peerListen].flatMap((address) =>
      address === null ? [] : [splitAddress(address)],
    );
    this.fixed = [...own, ...etcd];
    this.all = this.fixed;
  }

  addMembers({ members }: ViewSpec): void {
    const listeners = members.flatMap(({ address, peer }) => [address, peer]).filter(Boolean);
    this.all = [...this.fixed, ...listeners.map(splitAddress)];
  }
}

/** The source, with somebody told of each view before the member is. */
function overheard(source: ViewSource, tell: (spec: ViewSpec) => void): ViewSource {
  return {
    start: (onView) =>
      source.start((spec) => {
        tell(spec);
        onView(spec);
      }),
    ready: () => source.ready(),
    leave: () => source.leave(),
    stop: () => source.stop(),
  };
}
