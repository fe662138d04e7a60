/**
 * Access tokens. A token is shown once, when it is made; only its SHA-256 is kept. Its secret has 256 random bits, so
 * that a slow hash would protect nothing more. The id in it is no secret: it finds the entry, and names it in lists.
 */
import { hash } from 'node:crypto';
import type { Scope } from './scope.ts';

export interface Token {
  readonly id: string;
  /** The user of the token, for people. Two tokens may have the same name, so that one can take over from the other. */
  readonly name: string;
  readonly scope: Scope;
  /** The name of one, or `*` for any. */
  readonly namespace: string;
  /** SHA-256 of the whole token in hex. */
  readonly digest: string;
  /** RFC 3339. */
  readonly created: string;
  /** When it stops being valid, RFC 3339; null: never. */
  readonly until: string | null;
}

const form = /^carillon_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;
export const tokenLength = 65;
const idBytes = 6;
const secretBytes = 32;

export interface NewToken {
  readonly id: string;
  /** The whole token, a secret: only its user may get it. */
  readonly text: string;
}

/** `random` gives that many unpredictable bytes. */
export function newToken(random: (length: number) => Buffer): NewToken {
  const id = random(idBytes).toString('hex');
  return { id, text: `carillon_${id}_${random(secretBytes).toString('base64url')}` };
}

/** The id within a token; null when the text is none. */
export function tokenIdOf(text: string): string | null {
  return form.exec(text)?.[1] ?? null;
}

/** In hex: the form that is kept, and the fastest to get. */
export function tokenDigest(text: string): string {
  return hash('sha256', text, 'hex');
}
