/**
 * Reads YAML, of which JSON is a part. A running member reads files again: none keeps its event loop for long. The
 * commands read their files here too, with room for longer ones.
 */
import { parse, YAMLParseError } from 'yaml';
import { parsePlainYaml } from './plain-yaml.ts';

/** The library takes up to 4 ms a KiB. Longer files are JSON, or in the plain forms of YAML. */
const defaultLibraryLengthMax = 4 * 1024;
/** A thousand members, each with addresses and labels. */
const defaultLengthMax = 512 * 1024;

/** Lines and commas: sixteen for each of a thousand members. Each key or value takes up to a microsecond. */
const defaultPartCountMax = 16 * 1024;

/** Open brackets beyond this, quoted ones included, are no file of an operator. */
const bracketDepthMax = 64;

export interface YamlOptions {
  readonly maxAliasCount?: number;
  /** Longer texts are refused; default: 512 KiB. */
  readonly lengthMax?: number;
  /** Longer texts are JSON, or in the plain forms of YAML; default: 4 KiB. */
  readonly libraryLengthMax?: number;
  /** Texts with more lines and commas are refused; default: 16,384. */
  readonly partCountMax?: number;
}

/** Throws an error whose message is a sentence with the place. */
export function parseYaml(text: string, options: YamlOptions = {}): unknown {
  const { lengthMax = defaultLengthMax, libraryLengthMax = defaultLibraryLengthMax } = options;
  if (text.length > lengthMax) {
    throw new Error(`It has ${text.length} characters; ${lengthMax} are the most.`);
  }
  refuseMuch(text, options);
  if (text.length <= libraryLengthMax) return byLibrary(text, options);
  const first = text.trimStart()[0];
  return first === '{' || first === '[' ? (JSON.parse(text) as unknown) : parsePlainYaml(text);
}

function refuseMuch(text: string, { partCountMax = defaultPartCountMax }: YamlOptions): void {
  let depth = 0;
  let partCount = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === lf || code === comma) partCount++;
    else if (isOpening(code)) depth++;
    else if (isClosing(code) && depth > 0) depth--;
    if (depth > bracketDepthMax) throw new Error(`More than ${bracketDepthMax} brackets are open.`);
    if (partCount > partCountMax)
      throw new Error(`It has more than ${partCountMax} lines and commas.`);
  }
}

const lf = 0x0a;
const comma = 0x2c;

function isOpening(code: number): boolean {
  return code === 0x5b || code === 0x7b;
}

function isClosing(code: number): boolean {
  return code === 0x5d || code === 0x7d;
}

/**
 * The library reads a key that is marked by `? ` twice, so each one inside another doubles the work: 1 KiB of `? ? ?`
 * took half a minute. Such a mark stands at the beginning of a line, or behind a sign, a quote, an anchor or a tag;
 * behind a word it is part of a text.
 */
function refuseExplicitKeys(text: string): void {
  for (let at = text.indexOf('?'); at >= 0; at = text.indexOf('?', at + 1)) {
    if (isBlank(text[at + 1]) && canMark(text, at))
      throw new Error('A key is marked by "? ": write it as "key: value".');
  }
}

function canMark(text: string, at: number): boolean {
  let end = at;
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--;
  const last = text[end - 1];
  if (isBlank(last)) return true;
  if (end === at) return last === '[' || last === '{' || last === ',';
  let start = end;
  while (!isBlank(text[start - 1])) start--;
  return '&!*'.includes(text[start] ?? '') || '-?:,[]{}"\''.includes(last ?? '');
}

/** Also the end of the text, and its beginning. */
function isBlank(char: string | undefined): boolean {
  return char === undefined || char === ' ' || char === '\n' || char === '\r' || char === '\t';
}

/**
 * The library makes an error for each fault of a text before it throws the first one. Recording a stack trace for each
 * took 40 ms for 4 KiB of open brackets, and quoting the line of each took time with the square of its length: 366 ms
 * for 64 KiB of quotes.
 */
function byLibrary(text: string, { maxAliasCount = 100 }: YamlOptions): unknown {
  refuseExplicitKeys(text);
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return parse(text, { maxAliasCount, prettyErrors: false, logLevel: 'error' });
  } catch (error) {
    const isDeep = error instanceof Error && error.message.startsWith('Maximum call stack');
    if (isDeep) throw new Error('It is nested too deep.', { cause: error });
    throw error instanceof YAMLParseError ? placed(error, text) : error;
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function placed({ message, pos: [at] }: YAMLParseError, text: string): Error {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const column = before.length - before.lastIndexOf('\n');
  return new Error(`${message} at line ${line}, column ${column}`);
}
