/** Reads values of unknown shape (JSON, YAML) and says in one sentence what would be right. */
import { PlacementError } from './errors.ts';

export function record(value: unknown, what: string, path = ''): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new PlacementError('bad_input', `${what} must be an object, not ${show(value)}.`, path);
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

function show(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}
