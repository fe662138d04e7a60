/** The kinds of values an option can have: how each is read from a file, an environment variable or a flag. */
import { parseHostPort } from '@carillon/core';

/** The expected form of a refused value: the end of the sentence "… must be". */
export class Wrong {
  readonly expected: string;
  constructor(expected: string) {
    this.expected = expected;
  }
}

/** Turns the raw value of a source (a text from flags and environment, any JSON value from a file) into a value. */
export type Kind<T> = (raw: unknown) => T | Wrong;

export function choice<const T extends string>(...values: readonly T[]): Kind<T> {
  return (raw) => values.find((value) => value === raw) ?? new Wrong(`one of ${values.join(', ')}`);
}

export function text(pattern: RegExp, expected: string): Kind<string> {
  return (raw) => (typeof raw === 'string' && pattern.test(raw) ? raw : new Wrong(expected));
}

/** true and false in files; as texts in flags and environment. */
export const yesNo: Kind<boolean> = (raw) => {
  if (typeof raw === 'boolean') return raw;
  if (raw === 'true' || raw === 'false') return raw === 'true';
  return new Wrong('true or false');
};

export const path = text(/^[^\0]+$/, 'a path');

/** `host:port`; an IPv6 host stands in brackets. Port 0: any free one. */
export const address: Kind<string> = (raw) => {
  if (typeof raw === 'string' && parseHostPort(raw) !== null) return raw;
  return new Wrong('host:port, such as 127.0.0.1:7253 or [::1]:7253');
};

export function whole(min: number, max: number): Kind<number> {
  return (raw) => {
    const value = typeof raw === 'string' && /^\d{1,15}$/.test(raw) ? Number(raw) : raw;
    if (Number.isInteger(value) && (value as number) >= min && (value as number) <= max)
      return value as number;
    return new Wrong(`a whole number from ${min} to ${max}`);
  };
}

function measured(units: Readonly<Record<string, number>>, example: string) {
  return (min: number, max: number): Kind<number> => {
    const plain = whole(min, max);
    return (raw) => {
      const match = typeof raw === 'string' && /^(\d{1,15})([A-Za-z]+)$/.exec(raw);
      const factor = match ? units[match[2] as string] : undefined;
      const value = plain(factor === undefined || !match ? raw : Number(match[1]) * factor);
      if (!(value instanceof Wrong)) return value;
      return new Wrong(`${value.expected}, or with a unit, such as ${example}`);
    };
  };
}

/** Milliseconds; `10s`, `5m`, `24h`, `7d` are understood too. */
export const ms = measured(
  { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
  '500ms, 10s, 5m or 24h',
);

/** Bytes; `64KiB`, `8MiB`, `1GiB` are understood too. */
export const bytes = measured(
  { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 },
  '64KiB, 8MiB or 1GiB',
);

/** null stands for "not set"; texts cannot say it, they leave the option out. */
export function optional<T>(kind: Kind<T>): Kind<T | null> {
  return (raw) => (raw === null ? null : kind(raw));
}

/** A list in files; separated by commas in flags and environment. */
export function list<T>(kind: Kind<T>): Kind<readonly T[]> {
  return (raw) => {
    const parts = typeof raw === 'string' ? raw.split(',').map((part) => part.trim()) : raw;
    if (!Array.isArray(parts)) return new Wrong('a list');
    const values: T[] = [];
    for (const part of parts) {
      if (part === '') continue;
      const value = kind(part);
      if (value instanceof Wrong)
        return new Wrong(`a list in which each item is ${value.expected}`);
      values.push(value);
    }
    return values;
  };
}

const labelForm = /^[A-Za-z0-9._-]{1,64}$/;

/** An object of texts in files; `region=eu,zone=a` in flags and environment. */
export const labels: Kind<Readonly<Record<string, string>>> = (raw) => {
  const wrong = new Wrong(
    'labels such as region=eu,zone=a, of letters, digits, dot, dash, underscore',
  );
  const pairs =
    typeof raw === 'string'
      ? raw
          .split(',')
          .filter(Boolean)
          .map((pair) => pair.trim().split('='))
      : typeof raw === 'object' && raw !== null && !Array.isArray(raw) && Object.entries(raw);
  if (!pairs) return wrong;
  for (const pair of pairs) {
    const fits = pair.length === 2 && pair.every((p) => typeof p === 'string' && labelForm.test(p));
    if (!fits || pair[0] === '__proto__') return wrong;
  }
  return Object.fromEntries(pairs) as Record<string, string>;
};
