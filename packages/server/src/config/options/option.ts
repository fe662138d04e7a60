/** One option of the table in `config.ts`, and the units of its values. */
import type { Kind } from './kinds.ts';

export interface Option<T> {
  readonly value: T;
  readonly kind: Kind<T>;
  /** The meaning of the option, and the cost of a lower or a higher value. */
  readonly help: string;
  /** Never printed or logged. */
  readonly secret: boolean;
}

export function option<T>(value: NoInfer<T>, kind: Kind<T>, help: string): Option<T> {
  return { value, kind, help, secret: false };
}

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
export const KiB = 1024;
export const MiB = 1024 * KiB;
