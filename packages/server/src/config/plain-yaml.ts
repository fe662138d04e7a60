/**
 * Reads long files in the plain forms of YAML, in time in proportion to their length: mappings and lists by
 * indentation, flow mappings and lists within a line, quoted texts without escapes, plain texts, numbers, true, false,
 * null, comments. A file in any other form (anchors, tags, block texts, texts over several lines, several documents) is
 * refused with the line of the first such form. The library reads all of YAML, at about a millisecond a KiB: `yaml.ts`
 * gives it short files only.
 *
 * A file that is read here means the same to the library; a test compares both.
 *
 * Example: `members:`, then `  - { name: a, weight: 2 }` gives { members: [{ name: 'a', weight: 2 }] }.
 */

interface Line {
  /** Counted from 1. */
  readonly number: number;
  readonly indent: number;
  /** Without indentation and without spaces at its end. */
  readonly text: string;
}

const depthMax = 32;
const keyLengthMax = 128;
const space = 0x20;
const firstPrintable = 0xa1;
const lastOfPlane = 0xd7ff;

/** Throws an error in a sentence, with the line, for any other form of YAML. */
export function parsePlainYaml(text: string): unknown {
  const lines = linesOf(text);
  if (lines.length === 0) return null;
  const reader = new Blocks(lines);
  const value = reader.block(lines[0]?.indent ?? 0, 0);
  reader.end();
  return value;
}

function refuse(line: number, what: string): never {
  throw new Error(
    `line ${line}: ${what}; a file this long is read in the plain forms of YAML, or as JSON`,
  );
}

function linesOf(text: string): Line[] {
  const lines: Line[] = [];
  let number = 0;
  const all = text.split('\n');
  for (const raw of all) {
    number++;
    const isCut = number < all.length && raw.endsWith('\r');
    const whole = withoutSpaces(isCut ? raw.slice(0, -1) : raw);
    let indent = 0;
    while (whole.charCodeAt(indent) === space) indent++;
    if (indent === whole.length || whole[indent] === '#') continue;
    if (number === 1 && whole === '---') continue;
    lines.push({ number, indent, text: whole.slice(indent) });
  }
  return lines;
}

/** Without the spaces at its end. Other blanks stay, and are refused. */
function withoutSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && text.charCodeAt(end - 1) === space) end--;
  return text.slice(0, end);
}

/** Mappings and lists by indentation. */
class Blocks {
  private readonly lines: Line[];
  private at = 0;

  constructor(lines: Line[]) {
    this.lines = lines;
  }

  block(indent: number, depth: number): unknown {
    const line = this.lines[this.at];
    if (line === undefined) return null;
    if (depth > depthMax) refuse(line.number, `it is nested deeper than ${depthMax} levels`);
    return isItem(line.text) ? this.list(indent, depth) : this.mapping(indent, depth);
  }

  /** The whole file was read. */
  end(): void {
    const line = this.lines[this.at];
    if (line !== undefined) refuse(line.number, 'the indentation fits nothing above');
  }

  private mapping(indent: number, depth: number): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    for (let line = this.here(indent); line !== null; line = this.here(indent)) {
      if (isItem(line.text)) break;
      const reader = new Inline(line, 0);
      const key = reader.key();
      if (Object.hasOwn(found, key)) refuse(line.number, `the key "${key}" stands twice`);
      this.at++;
      found[key] = reader.isOver() ? this.below(indent, depth, true) : reader.whole(depth);
    }
    return found;
  }

  private list(indent: number, depth: number): unknown[] {
    const found: unknown[] = [];
    for (let line = this.here(indent); line !== null; line = this.here(indent)) {
      if (!isItem(line.text)) break;
      let offset = 1;
      while (line.text.charCodeAt(offset) === space) offset++;
      const content = line.text.slice(offset);
      if (content === '' || content.startsWith('#')) {
        this.at++;
        found.push(this.below(indent, depth, false));
      } else if (isItem(content)) refuse(line.number, 'a list begins in the line of another');
      else if (new Inline(line, offset).hasKey()) {
        const inner = indent + offset;
        this.lines[this.at] = { number: line.number, indent: inner, text: content };
        found.push(this.mapping(inner, depth + 1));
      } else {
        this.at++;
        found.push(new Inline(line, offset).whole(depth));
      }
    }
    return found;
  }

  /** The value of a key or an item that ends its line. The list of a key may be indented as the key is. */
  private below(indent: number, depth: number, isKey: boolean): unknown {
    const next = this.lines[this.at];
    if (next === undefined || next.indent < indent) return null;
    if (next.indent > indent) return this.block(next.indent, depth + 1);
    return isKey && isItem(next.text) ? this.list(indent, depth + 1) : null;
  }

  /** The present line if it is indented like this; null: the block is over. */
  private here(indent: number): Line | null {
    const line = this.lines[this.at];
    if (line === undefined || line.indent < indent) return null;
    if (line.indent > indent) refuse(line.number, 'a text goes on, or the indentation is wrong');
    return line;
  }
}

function isItem(text: string): boolean {
  return text === '-' || text.startsWith('- ');
}

/** Values within one line. */
class Inline {
  private readonly line: number;
  private readonly text: string;
  private at: number;

  constructor({ number, text }: Line, at: number) {
    this.line = number;
    this.text = text;
    this.at = at;
  }

  /** Whether the line begins with a key; nothing is read. */
  hasKey(): boolean {
    const { at } = this;
    const isKey = this.readKey() !== null;
    this.at = at;
    return isKey;
  }

  key(): string {
    return this.readKey() ?? refuse(this.line, 'there is no key of letters, digits and _ . -');
  }

  /** Whether nothing but a comment is left. */
  isOver(): boolean {
    const before = this.at;
    this.skip();
    if (this.at >= this.text.length) return true;
    return this.text[this.at] === '#' && this.at > before;
  }

  /** The value that is the rest of the line. */
  whole(depth: number): unknown {
    this.skip();
    const value = this.value(depth, false);
    if (!this.isOver()) refuse(this.line, `it goes on after a value, at column ${this.at + 1}`);
    return value;
  }

  private value(depth: number, isFlow: boolean): unknown {
    if (depth > depthMax) refuse(this.line, `it is nested deeper than ${depthMax} levels`);
    const first = this.text[this.at];
    if (first === '[') return this.flowList(depth);
    if (first === '{') return this.flowMapping(depth);
    if (first === '"' || first === "'") return this.quoted(first);
    return meaning(this.plain(isFlow), this.line);
  }

  private flowList(depth: number): unknown[] {
    const found: unknown[] = [];
    this.at++;
    for (this.skip(); this.text[this.at] !== ']'; this.skip()) {
      found.push(this.value(depth + 1, true));
      this.separator(']');
    }
    this.at++;
    return found;
  }

  private flowMapping(depth: number): Record<string, unknown> {
    const found: Record<string, unknown> = {};
    this.at++;
    for (this.skip(); this.text[this.at] !== '}'; this.skip()) {
      const key = this.key();
      if (Object.hasOwn(found, key)) refuse(this.line, `the key "${key}" stands twice`);
      this.skip();
      const isEmpty = this.text[this.at] === ',' || this.text[this.at] === '}';
      found[key] = isEmpty ? null : this.value(depth + 1, true);
      this.separator('}');
    }
    this.at++;
    return found;
  }

  private separator(end: string): void {
    this.skip();
    if (this.text[this.at] === ',') this.at++;
    else if (this.text[this.at] !== end) refuse(this.line, `a "${end}" or "," is missing`);
  }

  private quoted(quote: string): string {
    const from = this.at + 1;
    const to = this.text.indexOf(quote, from);
    const text = this.text.slice(from, to);
    const isWhole = to >= 0 && !text.includes('\\') && this.text[to + 1] !== quote;
    if (!isWhole || !isPrintable(text)) refuse(this.line, 'a quoted text has escapes, or no end');
    this.at = to + 1;
    return text;
  }

  /** A text without quotes, up to a comment or, in a flow, to its end. */
  private plain(isFlow: boolean): string {
    const { text } = this;
    const from = this.at;
    if (!beginsPlain(text, from)) refuse(this.line, `"${text[from] ?? ''}" begins no plain text`);
    let to = from;
    for (; to < text.length; to++) {
      const char = text[to] ?? '';
      if (isFlow && (char === ',' || char === ']' || char === '}')) break;
      if (char === '#' && text.charCodeAt(to - 1) === space) break;
      const next = text[to + 1];
      const isKey = char === ':' && (next === undefined || next === ' ' || isFlow);
      if (isKey || !isPlain(char)) refuse(this.line, `"${char}" in a text without quotes`);
    }
    this.at = to;
    const found = withoutSpaces(text.slice(from, to));
    this.at = from + found.length;
    return found;
  }

  /** A key and its colon; null: there is none. */
  private readKey(): string | null {
    const quote = this.text[this.at];
    const isQuoted = quote === '"' || quote === "'";
    const key = isQuoted ? this.quoted(quote) : this.word();
    const after = this.text[this.at + 1];
    const isKey = this.text[this.at] === ':' && (after === undefined || after === ' ');
    if (!isKey || key.length > keyLengthMax || key === '' || key === '__proto__') return null;
    // As a key, null and the like are texts of their own kind.
    if (!isQuoted && words.has(key)) return null;
    this.at++;
    return key;
  }

  private word(): string {
    const from = this.at;
    const first = this.text.charCodeAt(from);
    if (!isLetter(first)) return '';
    while (isOfWord(this.text.charCodeAt(this.at))) this.at++;
    return this.text.slice(from, this.at);
  }

  private skip(): void {
    while (this.text.charCodeAt(this.at) === space) this.at++;
  }
}

function isLetter(code: number): boolean {
  return (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isOfWord(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === 0x5f || code === 0x2e || code === 0x2d;
}

/**
 * Signs of YAML count only at the beginning of a text, or as `: ` and ` #`; brackets only in a flow, but are left out
 * anyway.
 */
const signs = new Set('_./:@%+-=();?&*$~<>!^,| ');

function isPlain(char: string): boolean {
  const code = char.charCodeAt(0);
  if (isLetter(code) || isDigit(code) || signs.has(char)) return true;
  return isBeyondAscii(code);
}

/** The line and paragraph separators are in between. */
function isBeyondAscii(code: number): boolean {
  return code >= firstPrintable && code <= lastOfPlane && (code < 0x2000 || code > 0x206f);
}

function isPrintable(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < space || (code > 0x7e && !isBeyondAscii(code))) return false;
  }
  return true;
}

/** A sign begins a text only where it begins a number. */
function beginsPlain(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (isLetter(code) || isDigit(code) || isBeyondAscii(code)) return true;
  const char = text[at];
  if (char === '/' || char === '_' || char === '.') return true;
  return (char === '-' || char === '+') && isDigit(text.charCodeAt(at + 1));
}

const words: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...['null', 'Null', 'NULL'].map((word) => [word, null] as const),
  ...['true', 'True', 'TRUE'].map((word) => [word, true] as const),
  ...['false', 'False', 'FALSE'].map((word) => [word, false] as const),
]);
const ofNumbers = new Set('0123456789.eE+-');

/** Null, a truth value, a number, or the text itself, by the core schema of YAML 1.2. */
function meaning(text: string, line: number): unknown {
  if (words.has(text)) return words.get(text);
  const code = text.charCodeAt(0);
  if (isLetter(code)) return text;
  const lower = text.toLowerCase();
  const isOdd = lower.startsWith('0x') || lower.startsWith('0o') || lower.startsWith('.');
  if (isOdd || lower.endsWith('.inf')) refuse(line, `${text.slice(0, 20)} is no plain number`);
  for (let i = 0; i < text.length; i++) if (!ofNumbers.has(text[i] ?? '')) return text;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}
