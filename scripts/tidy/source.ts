/**
 * One parsed source file, as the rules see it: text, syntax tree, comments and imports. TypeScript 7 has no
 * programmatic interface, so the tree comes from oxc, the parser inside vite (docs/decisions/0009-oxc-for-tidy.md).
 */
import { parseSync } from 'vite';

/** Any vertex of the tree. Rules look at few shapes, so the tree stays untyped and is read with care. */
export interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export interface Vertex {
  readonly syntax: Syntax;
  readonly parent: Syntax | null;
}

export interface Import {
  /** The text between the quotes. */
  readonly from: string;
  /** Erased by the compiler: it creates no edge when the program runs. */
  readonly typeOnly: boolean;
  readonly line: number;
}

export interface Comment {
  readonly text: string;
  readonly start: number;
  /** First and last line. */
  readonly line: number;
  readonly lineEnd: number;
}

export interface Source {
  /** From the repository's root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly lineCount: number;
  /** Every vertex of the tree, parents before children. */
  readonly vertices: readonly Vertex[];
  readonly comments: readonly Comment[];
  readonly imports: readonly Import[];
  lineAt(offset: number): number;
}

export interface Finding {
  readonly path: string;
  readonly line: number;
  /** A sentence: the fault, and the right form. */
  readonly says: string;
}

export type Rule = (source: Source) => Finding[];

export function parse(path: string, text: string): Source {
  const parsed = parseSync(path, text);
  const [problem] = parsed.errors;
  if (problem !== undefined) throw new Error(`${path} cannot be parsed: ${problem.message}`);
  const lineAt = lineFinder(text);
  const vertices = flatten(parsed.program as unknown as Syntax);
  return {
    path,
    text,
    lineCount: lineAt(text.length) - (text.endsWith('\n') ? 1 : 0),
    vertices,
    comments: parsed.comments.map(({ value, start, end }) => ({
      text: value,
      start,
      line: lineAt(start),
      lineEnd: lineAt(end),
    })),
    imports: importsIn(vertices, lineAt),
    lineAt,
  };
}

export function isTest(path: string): boolean {
  return /\.(test|contract)\.tsx?$/.test(path);
}

/** The tree under `root` as a list. One walk for all rules: most of the time goes into it. */
export function flatten(root: Syntax): Vertex[] {
  const vertices: Vertex[] = [];
  const step = (syntax: Syntax, parent: Syntax | null): void => {
    vertices.push({ syntax, parent });
    for (const key in syntax) {
      const value = syntax[key];
      if (typeof value !== 'object' || value === null) continue;
      if (Array.isArray(value)) {
        for (const item of value) if (isSyntax(item)) step(item, syntax);
      } else if (isSyntax(value)) step(value, syntax);
    }
  };
  step(root, null);
  return vertices;
}

export function isSyntax(value: unknown): value is Syntax {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}

/** The name of an identifier or of a private member, or null for anything else. */
export function nameOf(value: unknown): string | null {
  if (!isSyntax(value)) return null;
  const named = value.type === 'Identifier' || value.type === 'PrivateIdentifier';
  return named ? String(value['name']) : null;
}

function lineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

/** `import { type A }` keeps its module at run time (verbatimModuleSyntax), so only `import type` is erased. */
function importsIn(vertices: readonly Vertex[], lineAt: (offset: number) => number): Import[] {
  return vertices.flatMap(({ syntax }) => {
    const request = syntax['source'];
    if (!isSyntax(request) || typeof request['value'] !== 'string') return [];
    const typeOnly =
      syntax['importKind'] === 'type' ||
      syntax['exportKind'] === 'type' ||
      syntax.type === 'TSImportType';
    return [{ from: request['value'], typeOnly, line: lineAt(request.start) }];
  });
}
