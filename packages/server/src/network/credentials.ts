/**
 * Credentials that prove that a member belongs to the cluster: secrets that all share, and a certificate of its own.
 * Pure: contents of files in, credentials or a sentence out. No sentence repeats any part of a secret or a key.
 */
import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

export interface Credentials {
  /** The first is used, each is accepted. None: no secret. */
  readonly secrets: readonly string[];
  readonly tls: PeerTls | null;
}

/** PEM. Both ends show a certificate that `ca` signed. */
export interface PeerTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

export const noCredentials: Credentials = { secrets: [], tls: null };

/** Secrets must be long: the recording of a handshake lets an attacker try guesses offline, for any time. */
const secretLengthMin = 32;
const secretCountMax = 2;

/** One secret a line; empty lines and lines that begin with # are skipped. */
export function parseSecrets(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim());
  const secrets = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (secrets.length === 0 || secrets.length > secretCountMax) {
    throw new Error(
      `It holds ${secrets.length} secrets: one line, or two while members change over.`,
    );
  }
  if (secrets.some((secret) => secret.length < secretLengthMin)) {
    throw new Error(
      `A secret must have at least ${secretLengthMin} characters, such as "openssl rand -hex 32" makes.`,
    );
  }
  return secrets;
}

/** `name`: of the member that will show the certificate. */
export function checkTls(tls: PeerTls, name: string): PeerTls {
  const { cert, key, ca } = tls;
  try {
    createSecureContext(tls);
  } catch (cause) {
    throw new Error('The certificate, its key and the authority do not fit together.', { cause });
  }
  if (key.trim() === '' || cert.trim() === '' || !ca.includes('-----BEGIN CERTIFICATE-----')) {
    throw new Error('A certificate, its key and the certificate of an authority are needed.');
  }
  if (!isNamed(new X509Certificate(cert), name)) {
    throw new Error(
      `The certificate does not name this member: "${name}" must be one of its DNS names or its common name.`,
    );
  }
  return tls;
}

/** Whether one of the DNS names of the certificate, or its common name, is this member's; patterns do not count. */
export function isNamed(certificate: X509Certificate, name: string): boolean {
  // With a dot in front OpenSSL would take it for every name below.
  if (name.startsWith('.')) return false;
  return certificate.checkHost(name, { subject: 'always', wildcards: false }) !== undefined;
}
