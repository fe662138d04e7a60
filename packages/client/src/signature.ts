/**
 * Whether a callback really comes from the cluster: Standard Webhooks signatures, checked with WebCrypto. Several
 * secrets may be valid at once, so that they can be changed without a gap.
 */
import { piecesOf, type PlainCall } from './plain.ts';

const secretForm = /^(?:whsec_)?([A-Za-z0-9+/]+={0,2})$/;
const secretBytesMin = 16;
/** A header with more signatures than this is not worth the work of checking. */
const signatureCountMax = 16;

export class SignatureCheck {
  private readonly secrets: readonly Uint8Array<ArrayBuffer>[];
  private readonly toleranceMs: number;
  private keys: Promise<readonly CryptoKey[]> | null = null;

  /** Throws TypeError for a secret that is none, without repeating it. */
  constructor(secrets: readonly string[], toleranceMs: number) {
    this.secrets = secrets.map(secretBytes);
    this.toleranceMs = toleranceMs;
  }

  /** null: the callback is genuine and recent. Otherwise a sentence for the answer. */
  async refuse({ header, body }: PlainCall, wallMs: number): Promise<string | null> {
    const id = header('webhook-id');
    const timestamp = header('webhook-timestamp');
    const signature = header('webhook-signature');
    if (id === null || timestamp === null || signature === null) {
      return 'The callback is not signed: webhook-id, webhook-timestamp and webhook-signature are needed.';
    }
    if (!/^\d{1,12}$/.test(timestamp)) return 'The webhook-timestamp is not a number of seconds.';
    if (Math.abs(wallMs - Number(timestamp) * 1000) > this.toleranceMs) {
      return 'The webhook-timestamp is too far from the present time of this receiver.';
    }
    const pieces = piecesOf(Infinity);
    pieces.add(new TextEncoder().encode(`${id}.${timestamp}.`));
    pieces.add(body);
    const signed = pieces.whole();
    for (const given of signaturesIn(signature)) {
      for (const key of await this.importedKeys()) {
        if (await crypto.subtle.verify('HMAC', key, given, signed)) return null;
      }
    }
    return 'The webhook-signature fits none of the secrets.';
  }

  private importedKeys(): Promise<readonly CryptoKey[]> {
    this.keys ??= Promise.all(
      this.secrets.map((secret) =>
        crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
          'verify',
        ]),
      ),
    );
    return this.keys;
  }
}

/** The signatures of the version known here; others may stand beside them. */
function signaturesIn(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .slice(0, signatureCountMax)
    .flatMap((entry) => {
      const bytes = entry.startsWith('v1,') ? fromBase64(entry.slice(3)) : null;
      return bytes === null ? [] : [bytes];
    });
}

function secretBytes(secret: string, index: number): Uint8Array<ArrayBuffer> {
  const bytes = fromBase64(secretForm.exec(secret)?.[1] ?? '');
  if (bytes === null || bytes.length < secretBytesMin) {
    throw new TypeError(
      `Secret ${index + 1} is not usable: it must be "whsec_" followed by at least ${secretBytesMin} bytes in base64.`,
    );
  }
  return bytes;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}
