/** Values in the JSON form of OTLP: attributes, times, and the process that they come from. */
import type { Attribute } from './attribute-text.ts';

/** The member that exports. */
export interface Exporting {
  readonly member: string;
  readonly cluster: string;
  readonly version: string;
}

export function resourceOf({ member, cluster, version }: Exporting): object {
  return {
    attributes: attributesOf([
      ['service.name', 'carillon'],
      ['service.version', version],
      ['service.instance.id', member],
      ['carillon.cluster', cluster],
    ]),
  };
}

export function attributesOf(attributes: readonly Attribute[]): object[] {
  return attributes.map(([key, value]) => ({ key, value: valueOf(value) }));
}

/** 64-bit numbers are texts in the JSON of OTLP. */
function valueOf(value: string | number): object {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** The second that was written last, and its text: most spans of an export lie within a few. */
let second = Number.NaN;
let secondText = '';

/** Nanoseconds since 1970, which no number of JavaScript holds. */
export function nanosOf(wallMs: number): string {
  const whole = Math.floor(wallMs / 1000);
  if (whole !== second) {
    second = whole;
    secondText = String(whole);
  }
  const nanos = Math.min(999_999_999, Math.round((wallMs - whole * 1000) * 1e6));
  // A billion in front keeps the zeros.
  return secondText + String(1_000_000_000 + nanos).slice(1);
}
