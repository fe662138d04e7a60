/**
 * Signed callbacks, as Standard Webhooks (standardwebhooks.com) has them, so that receivers can use any of
 * its libraries. With several secrets every one signs: a receiver that knows the old or the new one is content, and
 * secrets can be changed without a gap.
 */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Version } from '@carillon/core';

const form = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const secretBytesMin = 24;
const secretBytesMax = 64;

/**
 * Names one pop: the same for every attempt and on every replica, so that a receiver can drop duplicates. Made of
 * the unique number in the timer's id instead of all of it, because the rest of an id changes when replicas move.
 * Without full stops, which separate the parts of the signed text.
 */
export function callbackId(id: string, version: Version, sequence: number): string {
  return `${id.slice(0, 16)}_${version.versionMs}_${version.versionTie}_${sequence}`;
}

export class Signer {
  private readonly keys: readonly KeyObject[];

  /** Each secret is `whsec_` and 24 to 64 bytes in base64. Throws for anything else, without repeating it. */
  constructor(secrets: readonly string[]) {
    this.keys = secrets.map(parseSecret);
  }

  /** The headers to send along with `body`. `wallMs` is the time of the attempt. */
  headers(id: string, wallMs: number, body: Uint8Array): Record<string, string> {
    const timestamp = String(Math.floor(wallMs / 1000));
    const start = `${id}.${timestamp}.`;
    const signatures = this.keys.map((key) => {
      const digest = createHmac('sha256', key).update(start).update(body).digest('base64');
      return `v1,${digest}`;
    });
    return {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    };
  }
}

function parseSecret(secret: string, index: number): KeyObject {
  const base64 = form.exec(secret)?.[1];
  const bytes = Buffer.from(base64 ?? '', 'base64');
  if (bytes.length < secretBytesMin || bytes.length > secretBytesMax) {
    throw new Error(
      `Signing secret ${index + 1} is not usable: it must be "whsec_" followed by ${secretBytesMin} to ${secretBytesMax} bytes in base64.`,
    );
  }
  return createSecretKey(bytes);
}
