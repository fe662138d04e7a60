/**
 * The network of a real member to other members: its listener, its secrets and certificates, and the names that
 * certificates may show. Neighbours: `peer-access.ts` has the files, `network/tcp-network.ts` the connections.
 */
import { type Cancel, type Clock, type Log, type Random, splitHostPort } from '@carillon/core';
import { KnownMembers } from '../cluster/sources/known-members.ts';
import type { ViewSpec } from '../cluster/view/view.ts';
import type { Config } from '../config/config.ts';
import type { Identity } from './identity.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { PeerAccess } from './peer-access.ts';
import { TcpNetwork } from '../network/tcp-network.ts';

export interface PeerNetworkOptions {
  readonly config: Config;
  readonly identity: Identity;
  readonly release: string;
  /** Fingerprint of the number key; 0 without one. */
  readonly numbering: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

export class PeerNetwork {
  /** null: alone. */
  readonly network: TcpNetwork | null;
  private readonly access: PeerAccess;
  private readonly known: KnownMembers;
  private readonly clock: Clock;
  private readonly formerMs: number;
  private cancelReview: Cancel = () => {};

  private constructor(options: PeerNetworkOptions, access: PeerAccess) {
    const { config, identity, clock, random, log, release, numbering } = options;
    const { peerListen } = identity;
    // A draining member may take this long to hand everything on, so its certificate is accepted that long.
    this.formerMs = config.shutdown.drainLimitMs;
    this.clock = clock;
    const known = new KnownMembers(clock, this.formerMs);
    const { credentials } = access;
    this.known = known;
    this.access = access;
    this.network =
      peerListen === null
        ? null
        : new TcpNetwork({
            clock,
            random,
            log,
            release,
            numbering,
            listen: splitHostPort(peerListen),
            credentials,
            members: known,
          });
    access.changed = (changed) => this.network?.renew(changed);
  }

  /** Rejects with StartError when this member must not listen for others as it is configured. */
  static async open(options: PeerNetworkOptions): Promise<PeerNetwork> {
    const { config, identity, clock, log } = options;
    const { name, peerListen } = identity;
    const access = await PeerAccess.open({ config, name, peerListen, clock, log });
    return new PeerNetwork(options, access);
  }

  /** The members are others now. */
  show(view: ViewSpec): void {
    this.known.update(view);
    const { network, clock, formerMs } = this;
    network?.review();
    // Certificates of former members are accepted a while longer; after that, their connections are cut.
    this.cancelReview();
    this.cancelReview = clock.at(clock.now() + formerMs + 1, () => network?.review());
  }

  count(metrics: Metrics): void {
    const { network } = this;
    if (network !== null) metrics.peersRefused.read(() => network.refusedCounts);
  }

  /** Reads secrets and certificates again. */
  reload(): Promise<void> {
    return this.access.reload();
  }

  /** The network is closed by the member. */
  close(): void {
    this.cancelReview();
    this.access.close();
  }
}
