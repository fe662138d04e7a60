/** A member on the real world: from a configuration to a process that serves. */
import type { Cancel, Clock, Env, Log } from '@carillon/core';
import { EtcdClient, Membership } from '@carillon/ring';
import { Dashboard } from '../api/routes/dashboard.ts';
import { Listener } from '../http/listener.ts';
import { aloneSource } from '../cluster/sources/alone.ts';
import { EtcdSource } from '../cluster/sources/etcd.ts';
import type { ViewSource } from '../cluster/sources/source.ts';
import { StaticSource } from '../cluster/sources/static.ts';
import type { ViewSpec } from '../cluster/view/view.ts';
import type { Config, Limits } from '../config/config.ts';
import { etcdAccess } from '../cluster/sources/etcd-access.ts';
import { tryAddresses } from './free-address.ts';
import { startIdleCollect } from './idle-collect.ts';
import {
  beginYoung,
  busyRatioMeter,
  collectHeap,
  heapShare,
  residentBytes,
  spareHeapBytes,
  usedHeapBytes,
} from './system-heap.ts';
import { type Identity, identify, withOwnHosts } from './identity.ts';
import { Member } from '../member.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type RereadQuotas, rereadQuotas } from '../quotas/reread-quotas.ts';
import { connectionsWithin, openFilesMax, openFilesShare, tooFewFiles } from './open-files.ts';
import { release } from './release.ts';
import { noteNumbering } from './number-note.ts';
import { openRings } from '../request/rings.ts';
import { openResources, type Resources } from './resources.ts';
import { systemOtlp } from './system-otlp.ts';
import { readText } from '../config/read-text.ts';
import { watchFile } from '../config/watch-file.ts';

const leaseMs = 5000;

export interface StartOptions {
  readonly config: Config;
  /**
   * How to read the configuration again, for the options that may change while the member runs: quotas of namespaces.
   */
  readonly reread?: {
    /** null: not from a file. */
    readonly file: string | null;
    /** Throws with a sentence when it cannot be used. */
    readonly config: () => Config;
  };
  /** Takes the lines of the log, JSON with a newline each; default: standard output. */
  readonly writeLog?: (line: string) => void;
  /** The member cannot go on; the caller should end the process. */
  readonly onFailed: (error: unknown) => void;
  /** A drain has handed everything on. */
  readonly onDrained: () => void;
}

export interface RunningMember {
  readonly name: string;
  /** Where the API listens, port filled in. */
  readonly address: string;
  /** The listening address with its scheme. */
  readonly url: string;
  readonly member: Member;
  /** Whether clients are asked for a token. */
  readonly needsToken: boolean;
  /** Reads members file, tokens, secrets, certificates and quotas again. */
  reload(): Promise<void>;
  stop(): Promise<void>;
}

export async function startMember(options: StartOptions): Promise<RunningMember> {
  beginYoung();
  const identity = await identify(options.config);
  await tryAddresses(options.config, identity);
  const resources = await openResources(options.config, identity, options.writeLog);
  try {
    return await startWithin(resources, identity, options);
  } catch (error) {
    await resources.close();
    throw error;
  }
}

async function startWithin(
  resources: Resources,
  identity: Identity,
  options: StartOptions,
): Promise<RunningMember> {
  const { config } = options;
  const { name, listen, peerListen } = identity;
  const { env, gate } = resources;
  const { log } = env;
  const filesMax = countFiles(config, log);
  const source = createSource(config, identity, env);
  const dashboard = createDashboard(name, resources, config);
  const rings = openRings(config, env);
  const quotas = await keepQuotas(resources, options);
  const member = await Member.start({
    name,
    env,
    config: withOwnHosts(config, identity),
    source: overheard(source, (spec) => resources.show(spec)),
    release,
    ...loggedEnds(options, log),
    access: gate.access,
    quotas: resources.quotas,
    numbering: resources.numbers.numbering,
    readRings: rings === null ? null : () => rings.read(),
    process: () => ({ openFiles: openFilesShare(filesMax), heapBytes: heapShare() }),
    routes: dashboard.routes,
    otlp: systemOtlp(config.telemetry),
  });
  dashboard.start();
  readProcess(member.metrics);
  resources.peers.count(member.metrics);
  const connectionCountMax = connectionsWithin(filesMax, config);
  const listener = createListener(member, resources, { ...config.limits, connectionCountMax });
  const address = await listener.listen(listen);
  const stopCollecting = collectWhenIdle(member, env.clock);
  const timers = member.store.counts.live;
  await noteNumbers(resources, timers);
  log.info('The member serves.', {
    event: 'serving',
    listen: address,
    peerListen,
    timers,
    ...release,
  });
  return {
    name,
    address,
    url: `${resources.certificate.value === null ? 'http' : 'https'}://${address}`,
    member,
    needsToken: gate.access.needsToken,
    reload: async () => {
      await resources.reload();
      await quotas.reload();
      if (source instanceof StaticSource) await source.reload();
    },
    stop: async () => {
      log.info('The member stops.', { event: 'stopping' });
      stopCollecting();
      quotas.close();
      dashboard.stop();
      await listener.close(config.shutdown.limitMs);
      await member.stop();
      await rings?.close();
      await resources.close();
    },
  };
}

function createListener(member: Member, resources: Resources, limits: Limits): Listener {
  const { certificate, env } = resources;
  const listener = new Listener({
    router: member.router,
    limits,
    metrics: member.metrics,
    clock: env.clock,
    random: env.random,
    certificate: certificate.value,
    beforeWork: member.poll,
  });
  certificate.changed = (changed) => listener.replaceCertificate(changed);
  return listener;
}

/** Tells the data folder which numbering it is written with, once the member is known to be its owner. */
async function noteNumbers({ env, numbers }: Resources, timers: number): Promise<void> {
  const { disk, log } = env;
  const { numbering, noted } = numbers;
  if (disk === null || noted) return;
  // A disk without room for the note is no reason not to start: the next start writes it.
  await noteNumbering(disk, numbering).catch((error: unknown) =>
    log.warn('The data folder has no note of the "number-key".', {
      event: 'number-key-unnoted',
      reason: String(error),
    }),
  );
  if (timers === 0 || numbering.fingerprint === 0) return;
  log.warn(
    'The "number-key" is new here: timers of other namespaces than default have other ids from now on.',
    { event: 'number-key-new' },
  );
}

function createDashboard(self: string, { env, gate }: Resources, config: Config): Dashboard {
  return new Dashboard({
    clock: env.clock,
    self,
    version: release.version,
    factor: config.defaultFactor,
    knows: (caller) => gate.access.knows(caller),
  });
}

/**
 * How many files this process may have open, null where that is not known; the log says when they are too few for the
 * configuration.
 */
function countFiles(config: Config, log: Log): number | null {
  const filesMax = openFilesMax();
  const tooFew = tooFewFiles(filesMax, config);
  if (tooFew !== null) log.warn(tooFew, { event: 'open-files-few' });
  return filesMax;
}

function keepQuotas(
  { quotas, env }: Resources,
  { config, reread }: StartOptions,
): Promise<RereadQuotas> {
  const { file = null, config: again = () => config } = reread ?? {};
  return rereadQuotas({ table: quotas, log: env.log, read: () => again().namespaces, file });
}

function collectWhenIdle({ store }: Member, clock: Clock): Cancel {
  return startIdleCollect({
    clock,
    busyRatio: busyRatioMeter(),
    nextAlarmMs: () => store.nextAlarmMs(),
    spareBytes: spareHeapBytes,
    collect: collectHeap,
  });
}

/** How a member can end by itself. The stack of a bug is in the log only: people get the sentence. */
function loggedEnds(
  { onFailed, onDrained }: StartOptions,
  log: Log,
): Pick<StartOptions, 'onFailed' | 'onDrained'> {
  return {
    onFailed: (error) => {
      const stack = error instanceof Error ? error.stack : undefined;
      log.error('The member cannot go on.', { event: 'failed', reason: String(error), stack });
      onFailed(error);
    },
    onDrained: () => {
      log.info('Every timer has been handed on: the member leaves.', { event: 'drained' });
      onDrained();
    },
  };
}

function readProcess(metrics: Metrics): void {
  metrics.residentBytes.read(() => residentBytes());
  metrics.heapBytes.read(usedHeapBytes);
  metrics.cpuSeconds.read(() => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}

function createSource(config: Config, identity: Identity, env: Env): ViewSource {
  const { clock, random, log } = env;
  const { membersFile, etcdEndpoints, labels, weight, name: cluster } = config.cluster;
  const { name, address } = identity;
  if (membersFile !== null) {
    const read = (): Promise<string> => readText(membersFile);
    return new StaticSource({
      file: membersFile,
      log,
      read,
      watch: (fn) => watchFile(membersFile, fn),
    });
  }
  if (etcdEndpoints.length === 0) return aloneSource({ name, address });
  const etcd = new EtcdClient({
    endpoints: etcdEndpoints,
    clock,
    log,
    ...etcdAccess(config.etcd),
  });
  const peer = identity.peer ?? '';
  return new EtcdSource({
    self: { name, address, peer, labels, weight },
    joinWaitMs: leaseMs + 2000,
    clock,
    close: () => etcd.close(),
    open: () =>
      Membership.open({ etcd, clock, random, log, prefix: `carillon/${cluster}/`, ttlMs: leaseMs }),
  });
}

/** The source, with `tell` called for each view before the member gets it. */
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
