/** Texts that records are found by, as 32-bit hashes. Never leave the process, so the function may change freely. */

/** tag: a whole tag. receiver: the origin of the callback. failing: no text. */
export type Kind = 'tag' | 'receiver' | 'failing';

const seeds: Readonly<Record<Kind, number>> = {
  tag: 0x2545f491,
  receiver: 0x85ebca6b,
  failing: 0xc2b2ae35,
};

const encoder = new TextEncoder();

export class TextHashes {
  /** Of the namespace that was asked for last: the next record often has the same. */
  private namespace = '';
  private seed = hashOf(new Uint8Array(0), 0, 0, 1);

  of(namespace: string, kind: Kind, text: string): number {
    const bytes = encoder.encode(text);
    return hashOf(bytes, 0, bytes.length, this.seedOf(namespace, kind));
  }

  /** With which to hash the bytes of a text of this kind. */
  seedOf(namespace: string, kind: Kind): number {
    if (namespace !== this.namespace) {
      const name = encoder.encode(namespace);
      this.seed = hashOf(name, 0, name.length, 1);
      this.namespace = namespace;
    }
    return this.seed ^ seeds[kind];
  }
}

/** Where the origin of a uri ends: `http://a.example:8080` of `http://a.example:8080/x`. */
export function originEnd(bytes: Uint8Array, from: number, to: number): number {
  let slashes = 0;
  for (let at = from; at < to; at++) {
    const code = bytes[at] as number;
    if (code === 0x2f) {
      if (++slashes === 3) return at;
    } else if (slashes >= 2 && (code === 0x3f || code === 0x23)) return at;
  }
  return to;
}

/** Of bytes[from, to). */
export function hashOf(bytes: Uint8Array, from: number, to: number, seed: number): number {
  let hash = (seed ^ 0x811c9dc5) | 0;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
