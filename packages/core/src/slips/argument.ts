/** Arguments of a program that uses a library of Carillon: faults become sentences, before anything is done. */
import { nearestWord } from './nearest-word.ts';

/**
 * Throws TypeError unless an argument is an object with these names alone: a slip of the fingers would have no effect
 * otherwise. `thing` is the thing described, such as `timer`; `base` goes before the names.
 */
export function refuseUnknown(
  given: unknown,
  thing: string,
  known: readonly string[],
  base = '',
): void {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const place = base === '' ? '' : ` as ${base.slice(0, -1)}`;
    throw new TypeError(
      `A ${thing} needs an object${place} (of ${known.join(', ')}), not ${shown(given)}.`,
    );
  }
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const near = nearestWord(name, known, Math.max(1, Math.floor(name.length / 3)));
    const hint =
      near === null ? `the names are ${known.join(', ')}` : `did you mean ${base}${near}?`;
    throw new TypeError(`A ${thing} has no ${base}${name}; ${hint}`);
  }
}

/** Throws TypeError with a sentence about an argument: its name, the right form, and the one given. */
export function refuseUnless(fits: boolean, name: string, right: string, given: unknown): void {
  if (!fits) throw new TypeError(`${name} must be ${right}, not ${shown(given)}.`);
}

/** Names of all members of a type; a missing one and one too many do not compile. */
export function namesOf<T>(names: Readonly<Record<keyof T, 1>>): readonly string[] {
  return Object.keys(names);
}

/** An argument as a sentence tells it, at most 100 characters of a text. */
export function shown(given: unknown): string {
  if (typeof given === 'string') return JSON.stringify(given.slice(0, 100));
  if (typeof given === 'function') return 'a function';
  if (typeof given !== 'object' || given === null) return String(given);
  return Array.isArray(given) ? 'a list' : 'an object';
}
