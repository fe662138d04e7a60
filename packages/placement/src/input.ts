/** Reads values of unknown shape (JSON, YAML); an error shows the right form in one sentence. */
import { PlacementError } from './errors.ts';

export function record(value: unknown, what: string, path = ''): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new PlacementError('bad_input', `${what} must be an object, not ${show(value)}.`, path);
}

/** The values of an object whose names are levels, in the order of the levels; undefined where a level has none. */
export function perLevel(levels: readonly string[], value: unknown, what: string): unknown[] {
  const input = record(value ?? {}, `"${what}"`);
  for (const level of Object.keys(input)) {
    if (levels.includes(level)) continue;
    throw new PlacementError(
      'unknown_level',
      `"${what}" names the level "${level}"; the levels are ${levels.join(', ')}.`,
    );
  }
  return levels.map((level) => (Object.hasOwn(input, level) ? input[level] : undefined));
}

/** Refuses a misspelt field: in silence, `wieght: 0` would make a planned vertex live. */
export function refuseUnknownFields(
  input: object,
  known: readonly string[],
  place: { readonly what: string; readonly path?: string },
): void {
  const given = Object.keys(input).find((field) => !known.includes(field));
  if (given === undefined) return;
  const near = nearestField(given, known);
  const hint = near === null ? '' : ` Did you mean "${near}"?`;
  throw new PlacementError(
    'unknown_field',
    `${place.what} has no field "${given}"; the fields are ${known.join(', ')}.${hint}`,
    place.path ?? '',
  );
}

/** The field with the most letters in common, in any order, if these are most letters of both. */
function nearestField(given: string, known: readonly string[]): string | null {
  const likeness = (field: string) =>
    (2 * lettersShared(given, field)) / (given.length + field.length);
  const [best] = known.toSorted((a, b) => likeness(b) - likeness(a));
  return best !== undefined && likeness(best) > 0.65 ? best : null;
}

function lettersShared(a: string, b: string): number {
  const left = Array.from(b.toLowerCase());
  let shared = 0;
  for (const letter of a.toLowerCase()) {
    const at = left.indexOf(letter);
    if (at < 0) continue;
    left.splice(at, 1);
    shared++;
  }
  return shared;
}

export function list(value: unknown, what: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new PlacementError('bad_input', `${what} must be a list, not ${show(value)}.`);
}

export function wholeNumber(
  value: unknown,
  what: string,
  range: { readonly min: number; readonly max: number },
): number {
  if (Number.isInteger(value) && Number(value) >= range.min && Number(value) <= range.max) {
    return Number(value);
  }
  throw new PlacementError(
    'bad_input',
    `${what} must be a whole number from ${range.min} to ${range.max}, not ${show(value)}.`,
  );
}

/** A number from 0 to 1. */
export function unit(value: unknown, what: string): number {
  if (typeof value === 'number' && value >= 0 && value <= 1) return value;
  throw new PlacementError('bad_input', `${what} must be from 0 to 1, not ${show(value)}.`);
}

/** Throws unless a `pick` is asked for a whole number of replicas; one comparison is all that a lookup pays. */
export function checkCount(count: number): void {
  if (count >>> 0 !== count) throw badCount(count);
}

function badCount(count: unknown): PlacementError {
  return new PlacementError(
    'bad_input',
    `The count of a pick must be a whole number from 0 to 4294967295, not ${show(count)}.`,
  );
}

/** Throws unless the values can be gone through one by one; a text, letter by letter, is none. */
export function checkIterable(value: unknown, what: string): void {
  const isObject = typeof value === 'object' && value !== null;
  if (isObject && typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function') {
    return;
  }
  throw new PlacementError('bad_input', `${what} must be a list, not ${show(value)}.`);
}

/** A value in the sentence of an error. */
export function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'function') return 'a function';
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 80);
}
