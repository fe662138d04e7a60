/**
 * Numbers as clients of a namespace see them (outside), and as members keep them (inside). Members know every timer
 * by its number alone; so that two namespaces can both have a timer 1, and an id of one means nothing in another,
 * each namespace has a one-to-one mapping of its own. The namespace `default` has numbers as they are.
 *
 * N1  `outside(n, inside(n, x))` is `x`, and the other way round.
 * N2  With a key, a client without it cannot choose a number that becomes a given one inside: not by knowing its own
 *     numbers on both sides, and not by knowing numbers of others.
 * N3  Without a key anybody can. That is for clusters without tokens, where every client may do everything anyway.
 */
import { decipher, encipher, type Halves, type Schedule, scheduleOf } from './xtea.ts';

export interface Numbering {
  inside(namespace: string, number: Halves): Halves;
  outside(namespace: string, number: Halves): Halves;
  /** 32 bits that follow from the key; 0 without one. Members of one cluster must have the same. */
  readonly fingerprint: number;
}

const plain = 'default';
/** Namespaces at hand; forgotten all at once when there are this many. */
const knownMax = 1024;

/** Without a key: XOR with bits that follow from the name of the namespace. */
export class OpenNumbering implements Numbering {
  readonly fingerprint = 0;
  private readonly known = new Map<string, Halves>();

  inside(namespace: string, { hi, lo }: Halves): Halves {
    if (namespace === plain) return { hi, lo };
    const by = remembered(this.known, namespace, () => shiftOf(namespace));
    return { hi: (hi ^ by.hi) >>> 0, lo: (lo ^ by.lo) >>> 0 };
  }

  /** XOR is its own inverse. */
  outside(namespace: string, number: Halves): Halves {
    return this.inside(namespace, number);
  }
}

export class KeyedNumbering implements Numbering {
  readonly fingerprint: number;
  private readonly keyOf: (namespace: string) => Uint8Array;
  private readonly known = new Map<string, Schedule>();

  /** `keyOf`: 16 bytes that follow from a secret and the name of a namespace. */
  constructor(fingerprint: number, keyOf: (namespace: string) => Uint8Array) {
    this.fingerprint = fingerprint;
    this.keyOf = keyOf;
  }

  inside(namespace: string, number: Halves): Halves {
    if (namespace === plain) return { hi: number.hi, lo: number.lo };
    return encipher(this.scheduleOf(namespace), number);
  }

  outside(namespace: string, number: Halves): Halves {
    if (namespace === plain) return { hi: number.hi, lo: number.lo };
    return decipher(this.scheduleOf(namespace), number);
  }

  private scheduleOf(namespace: string): Schedule {
    const make = (): Schedule => scheduleOf(this.keyOf(namespace));
    return remembered(this.known, namespace, make);
  }
}

function shiftOf(namespace: string): Halves {
  return { hi: hash(namespace, 0x9e3779b9), lo: hash(namespace, 0x85ebca6b) };
}

function remembered<T>(known: Map<string, T>, namespace: string, make: () => T): T {
  const found = known.get(namespace);
  if (found !== undefined) return found;
  if (known.size >= knownMax) known.clear();
  const made = make();
  known.set(namespace, made);
  return made;
}

/** 32 bits that depend on every character and on `seed`: FNV-1a with the finish of MurmurHash3. */
function hash(text: string, seed: number): number {
  let state = seed;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}
