/**
 * Whether a regular expression takes time in proportion to its input, by its form: one character decides.
 *
 *  B1  It begins where the text begins. One that is searched for from every place has no long repetition, unless that
 *      is all it is.
 *  B2  Where a long repetition could go on, nothing that follows it could begin with the same character. So there is
 *      never a second way to share the text between the two, and a match that fails in the end fails after one walk.
 *  B3  The branches inside a long repetition begin with different characters, and each takes at least one.
 */
import { type Part, type Sequence, treeOf } from './pattern-tree.ts';

/** Repetitions up to here cost no more than a constant. */
const shortCountMax = 16;

/** Characters that tell sets apart: all of Latin, and some of the rest. */
const alphabet = [
  ...Array.from({ length: 0x250 }, (_, code) => String.fromCharCode(code)),
  ...'\u2028\u2029\u20ac\ufeff\uffff\u4e00'.split(''),
];

interface Begin {
  readonly characters: ReadonlySet<string>;
  /** It may take no character at all. */
  readonly empty: boolean;
}

/** Why the pattern may take longer than its input is long; null when it cannot. */
export function backtracks(pattern: string, flags: string): string | null {
  const tree = treeOf(pattern);
  if (tree === null) return 'cannot be read by this rule';
  const judge = new Judge(flags);
  const [first] = tree;
  if (tree.length === 1 && first?.length === 1 && isPlainRepeat(first[0])) return null;
  const anchored = flags.includes('y') || (!flags.includes('m') && tree.every(isAnchored));
  if (!anchored && tree.some((branch) => branch.some(isLong)))
    return 'is searched for from every place, with a long repetition in it';
  for (const branch of tree) judge.sequence(branch, new Set(), false);
  return judge.finding;
}

class Judge {
  finding: string | null = null;
  private readonly flags: string;
  private readonly known = new Map<string, ReadonlySet<string>>();

  constructor(flags: string) {
    this.flags = flags.replaceAll(/[gdy]/g, '');
  }

  /** `after`: with which characters it could go on behind the sequence. */
  sequence(parts: Sequence, after: ReadonlySet<string>, repeated: boolean): void {
    parts.forEach((part, at) => {
      const rest = this.beginOf(parts.slice(at + 1));
      const next = rest.empty ? union(rest.characters, after) : rest.characters;
      this.part(part, next, repeated);
    });
  }

  private part(part: Part, next: ReadonlySet<string>, repeated: boolean): void {
    if (part.kind === 'group') this.group(part.branches, next, repeated);
    if (part.kind !== 'repeat') return;
    const own = this.beginOf([part.of]);
    const long = part.max > shortCountMax;
    if (long && own.empty) this.found('repeats a part that may be empty');
    if ((long || (repeated && part.min !== part.max)) && meets(own.characters, next))
      this.found('has a repetition that the part behind it could go on with');
    const again = part.max === 1 ? next : union(own.characters, next);
    this.part(part.of, again, repeated || long);
  }

  private group(branches: readonly Sequence[], next: ReadonlySet<string>, repeated: boolean): void {
    const begun = new Set<string>();
    for (const branch of branches) {
      const { characters } = this.beginOf(branch);
      if (repeated && meets(characters, begun))
        this.found('has branches inside a repetition that begin alike');
      for (const character of characters) begun.add(character);
      this.sequence(branch, next, repeated);
    }
  }

  private beginOf(parts: Sequence): Begin {
    const characters = new Set<string>();
    for (const part of parts) {
      const begin = this.beginOfPart(part);
      for (const character of begin.characters) characters.add(character);
      if (!begin.empty) return { characters, empty: false };
    }
    return { characters, empty: true };
  }

  private beginOfPart(part: Part): Begin {
    if (part.kind === 'edge') return { characters: new Set(), empty: true };
    if (part.kind === 'set') return { characters: this.charactersOf(part.source), empty: false };
    if (part.kind === 'repeat') {
      const begin = this.beginOfPart(part.of);
      return { characters: begin.characters, empty: begin.empty || part.min === 0 };
    }
    const begins = part.branches.map((branch) => this.beginOf(branch));
    return {
      characters: new Set(begins.flatMap(({ characters }) => [...characters])),
      empty: begins.some(({ empty }) => empty),
    };
  }

  private charactersOf(source: string): ReadonlySet<string> {
    const known = this.known.get(source);
    if (known !== undefined) return known;
    const one = new RegExp(`^${source}$`, this.flags);
    const characters = new Set(alphabet.filter((character) => one.test(character)));
    this.known.set(source, characters);
    return characters;
  }

  private found(what: string): void {
    this.finding ??= what;
  }
}

function isAnchored([first]: Sequence): boolean {
  if (first?.kind === 'group') return first.branches.every(isAnchored);
  return first?.kind === 'edge' && first.source === '^';
}

function isLong(part: Part): boolean {
  if (part.kind === 'group') return part.branches.some((branch) => branch.some(isLong));
  return part.kind === 'repeat' && (part.max > shortCountMax || isLong(part.of));
}

/** `[^a-z]+` alone: it fits at the first such character, and is never given up. */
function isPlainRepeat(part: Part | undefined): boolean {
  return part?.kind === 'repeat' && part.of.kind === 'set' && part.min <= 1;
}

function union(a: ReadonlySet<string>, b: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...a, ...b]);
}

function meets(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const character of a) if (b.has(character)) return true;
  return false;
}
