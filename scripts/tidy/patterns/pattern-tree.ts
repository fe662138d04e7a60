/**
 * A regular expression as a tree, as far as the rule on backtracking needs it. Expressions with other parts
 * (references back, looks behind, sets of the `v` flag) give null.
 */

export type Part =
  /** One character of a set: a letter, a class, a dot. */
  | { readonly kind: 'set'; readonly source: string }
  /** Anchors, edges of words, looks ahead: they take no characters. */
  | { readonly kind: 'edge'; readonly source: string }
  | { readonly kind: 'group'; readonly branches: readonly Sequence[] }
  | { readonly kind: 'repeat'; readonly of: Part; readonly min: number; readonly max: number };

export type Sequence = readonly Part[];

const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/;
const escape = /^\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|p\{[^}]*\}|[^0-9ck])/i;
const opening = /^\((?:\?(?::|<(?![=!])[^>]*>))?/;

/** The branches of a whole pattern, or null. */
export function treeOf(pattern: string): readonly Sequence[] | null {
  const reader = new Reader(pattern);
  const branches = reader.branches();
  return branches !== null && reader.done ? branches : null;
}

class Reader {
  private rest: string;

  constructor(pattern: string) {
    this.rest = pattern;
  }

  get done(): boolean {
    return this.rest === '';
  }

  branches(): Sequence[] | null {
    const branches: Sequence[] = [];
    do {
      const branch = this.sequence();
      if (branch === null) return null;
      branches.push(branch);
    } while (this.take('|'));
    return branches;
  }

  private sequence(): Sequence | null {
    const parts: Part[] = [];
    while (!this.done && !this.rest.startsWith('|') && !this.rest.startsWith(')')) {
      const part = this.part();
      if (part === null) return null;
      parts.push(this.repeated(part));
    }
    return parts;
  }

  private part(): Part | null {
    if (this.take('^')) return { kind: 'edge', source: '^' };
    if (this.take('$')) return { kind: 'edge', source: '$' };
    if (this.take('.')) return { kind: 'set', source: '.' };
    if (this.rest.startsWith('\\')) return this.escaped();
    if (this.rest.startsWith('[')) return this.set();
    if (this.rest.startsWith('(')) return this.group();
    const [character = ''] = this.rest;
    this.rest = this.rest.slice(character.length);
    const special = '*+?{}]'.includes(character);
    return { kind: 'set', source: special ? `\\${character}` : character };
  }

  private escaped(): Part | null {
    const source = escape.exec(this.rest)?.[0];
    if (source === undefined) return null;
    this.rest = this.rest.slice(source.length);
    return { kind: source.toLowerCase() === '\\b' ? 'edge' : 'set', source };
  }

  private set(): Part | null {
    let at = 1;
    while (at < this.rest.length && this.rest[at] !== ']') at += this.rest[at] === '\\' ? 2 : 1;
    if (at >= this.rest.length) return null;
    const source = this.rest.slice(0, at + 1);
    this.rest = this.rest.slice(at + 1);
    return { kind: 'set', source };
  }

  private group(): Part | null {
    const looks = this.rest.startsWith('(?=') || this.rest.startsWith('(?!');
    const start = looks ? this.rest.slice(0, 3) : opening.exec(this.rest)?.[0];
    if (start === undefined || (start === '(' && this.rest.startsWith('(?'))) return null;
    const before = this.rest;
    this.rest = this.rest.slice(start.length);
    const branches = this.branches();
    if (branches === null || !this.take(')')) return null;
    if (!looks) return { kind: 'group', branches };
    // How far a look ahead may go is not followed here.
    const source = before.slice(0, before.length - this.rest.length);
    return /[*+{]/.test(source) ? null : { kind: 'edge', source };
  }

  private repeated(part: Part): Part {
    const source = quantifier.exec(this.rest)?.[0];
    if (source === undefined) return part;
    this.rest = this.rest.slice(source.length);
    const [min, max] = countsOf(source);
    return { kind: 'repeat', of: part, min, max };
  }

  private take(text: string): boolean {
    if (!this.rest.startsWith(text)) return false;
    this.rest = this.rest.slice(text.length);
    return true;
  }
}

function countsOf(source: string): [min: number, max: number] {
  if (source.startsWith('*')) return [0, Number.POSITIVE_INFINITY];
  if (source.startsWith('+')) return [1, Number.POSITIVE_INFINITY];
  if (source.startsWith('?')) return [0, 1];
  const [, min = '0', comma, max = ''] = /^\{(\d+)(,)?(\d*)\}/.exec(source) ?? [];
  if (comma === undefined) return [Number(min), Number(min)];
  return [Number(min), max === '' ? Number.POSITIVE_INFINITY : Number(max)];
}
