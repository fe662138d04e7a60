/**
 * The resources of a real member: the ports it runs on, authentication of clients and peers, and the guard of its
 * callbacks. Opened before the member and closed after it; a failure on the way leaves nothing open behind.
 */
import { parseHostPort, splitHostPort } from '@carillon/core';
import { SystemClock, SystemRandom } from '@carillon/core/system';
import { ApiCertificate } from './api-certificate.ts';
import { type OpenAccess, openAccess } from '../access/open-access.ts';
import type { ViewSpec } from '../cluster/view/view.ts';
import type { Config } from '../config/config.ts';
import { type Identity, logGuesses } from './identity.ts';
import { dataFiles, type Settled, settleNumbering } from './number-note.ts';
import { PeerNetwork } from './peer-network.ts';
import { Denied } from '../callback/guard/denied.ts';
import type { Endpoint } from '../callback/guard/guard.ts';
import { systemResolve } from '../callback/guard/resolve.ts';
import { QuotaTable } from '../quotas/quota-table.ts';
import { release } from './release.ts';
import { createLog, createSystemEnv, type SystemEnv } from './system-env.ts';

export interface Resources {
  readonly env: SystemEnv;
  readonly gate: OpenAccess;
  readonly quotas: QuotaTable;
  readonly certificate: ApiCertificate;
  readonly peers: PeerNetwork;
  readonly numbers: Settled;
  /** The members are others now. */
  show(view: ViewSpec): void;
  /** Reads tokens, secrets and certificates again. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/** `writeLog`: instead of standard output. */
export async function openResources(
  config: Config,
  identity: Identity,
  writeLog?: (line: string) => void,
): Promise<Resources> {
  const clock = new SystemClock();
  const random = new SystemRandom();
  const log = createLog(config.logLevel, identity.name, writeLog);
  const opened: { close(): unknown }[] = [];
  const close = async (): Promise<void> => {
    for (const one of opened.splice(0).toReversed()) await one.close();
  };
  const keep = <T extends { close(): unknown }>(one: T): T => {
    opened.push(one);
    return one;
  };
  try {
    // First of all: a member that must not start does not touch its data either.
    const { listen } = identity;
    const quotas = new QuotaTable(config);
    const gate = keep(await openAccess({ config, listens: [listen], quotas, clock, log }));
    const certificate = keep(await ApiCertificate.open({ config, clock, log }));
    const numbers = settleNumbering(await dataFiles(config), gate.numbering, log);
    const about = { release: release.version, numbering: numbers.numbering.fingerprint };
    const ports = { clock, random, log };
    const peers = keep(await PeerNetwork.open({ config, identity, ...about, ...ports }));
    logGuesses(config, identity, log);
    const fixed = ownEndpoints(config, identity);
    const denied = keep(new Denied({ clock, resolve: systemResolve(), fixed }));
    await denied.start();
    const { network } = peers;
    const world = { ...ports, config, listen, network, denied: () => denied.all };
    const env = keep(await createSystemEnv(world));
    const show = (view: ViewSpec): void => {
      denied.setMembers(endpointsOf(view));
      peers.show(view);
    };
    const reload = async (): Promise<void> => {
      await gate.reload();
      await certificate.reload();
      await peers.reload();
    };
    return { env, gate, quotas, certificate, peers, numbers, show, reload, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The member's own listeners, and etcd. */
function ownEndpoints(config: Config, { listen, peerListen }: Identity): Endpoint[] {
  const etcd = [...config.cluster.etcdEndpoints, ...config.locks.etcdEndpoints].map((url) => {
    const { hostname, port, protocol } = new URL(url);
    return { host: hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80) };
  });
  const own = [listen, peerListen].flatMap((address) =>
    address === null ? [] : [splitHostPort(address)],
  );
  return [...own, ...etcd];
}

function endpointsOf({ members }: ViewSpec): Endpoint[] {
  const listeners = members.flatMap(({ address, peer }) => [address, peer]).filter(Boolean);
  return listeners.flatMap((listener) => parseHostPort(listener) ?? []);
}
