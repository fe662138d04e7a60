/**
 * Authentication of peers: secrets and certificates from their files, kept up to date, and the rule for doing without.
 */
import { type Clock, type Log, sentenceOf, splitHostPort } from '@carillon/core';
import { isLoopback, StartError } from '../access/start-rule.ts';
import type { Config } from '../config/config.ts';
import { ReloadingFile } from '../config/reloading-file.ts';
import { checkTls, type Credentials, type PeerTls, parseSecrets } from '../network/credentials.ts';

export interface PeerAccessOptions {
  readonly config: Config;
  /** Name of this member. */
  readonly name: string;
  /** Where peers are listened for; null: alone. */
  readonly peerListen: string | null;
  readonly clock: Clock;
  readonly log: Log;
}

export class PeerAccess {
  private secrets: ReloadingFile<readonly string[]> | null = null;
  private tls: ReloadingFile<PeerTls> | null = null;
  /** Told when the credentials have changed. */
  changed: (credentials: Credentials) => void = () => {};

  private constructor() {}

  /** Rejects with StartError when a file cannot be used, or when the peer port would be open without authentication. */
  static async open(options: PeerAccessOptions): Promise<PeerAccess> {
    checkPeers(options);
    const access = new PeerAccess();
    try {
      await access.openFiles(options);
    } catch (cause) {
      access.close();
      throw new StartError(sentenceOf(cause), { cause });
    }
    return access;
  }

  get credentials(): Credentials {
    return { secrets: this.secrets?.value ?? [], tls: this.tls?.value ?? null };
  }

  /** Reads the files again. */
  async reload(): Promise<void> {
    await this.secrets?.reload();
    await this.tls?.reload();
  }

  close(): void {
    this.secrets?.close();
    this.tls?.close();
  }

  private async openFiles(options: PeerAccessOptions): Promise<void> {
    const { config, name, peerListen, clock, log } = options;
    const { secretFile, tls } = config.cluster;
    const { certificate, key, ca } = tls;
    if (peerListen === null) return;
    const common = { clock, log, changed: () => this.changed(this.credentials) };
    if (secretFile !== null) {
      this.secrets = await ReloadingFile.open<readonly string[]>({
        ...common,
        what: 'The secret of the cluster',
        files: [secretFile],
        make: ([text = '']) => parseSecrets(text),
      });
    }
    if (certificate === null || key === null || ca === null) return;
    this.tls = await ReloadingFile.open<PeerTls>({
      ...common,
      what: 'The certificate for other members',
      files: [certificate, key, ca],
      make: ([certText = '', keyText = '', caText = '']) =>
        checkTls({ cert: certText, key: keyText, ca: caText }, name),
    });
  }
}

/** Throws StartError. */
function checkPeers({ config, peerListen, log }: PeerAccessOptions): void {
  const { cluster, auth } = config;
  const guarded = cluster.secretFile !== null || cluster.tls.certificate !== null;
  if (peerListen === null || guarded || isLoopback(splitHostPort(peerListen).host)) return;
  if (!auth.insecureNoAuth) {
    throw new StartError(
      `The member would listen for other members at ${peerListen}, where others can reach it, and nothing tells members from strangers. ` +
        'Give all members one secret (openssl rand -hex 32 > FILE, --cluster-secret-file FILE) or certificates (--peer-tls-certificate, --peer-tls-key, --peer-tls-ca), ' +
        'listen at 127.0.0.1 or [::1], or say --insecure-no-auth to take every process that reaches it for a member.',
    );
  }
  log.warn(
    'Every process that reaches the peer port is taken for a member: there is no secret and no TLS.',
    { event: 'peer-port-open', peerListen },
  );
}
