/** Figures as people read them: three digits that count, and the unit. */
import type { Unit } from './section.ts';

const suffixes: Readonly<Record<Unit, string>> = {
  perSecond: '/s',
  micros: ' µs',
  nanos: ' ns',
  ms: ' ms',
  seconds: ' s',
  bytes: ' B',
  percent: ' %',
  count: '',
  ratio: ' ×',
};

export function figure(value: number | null | undefined, unit: Unit): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  if (unit === 'count') return value.toLocaleString('en').replaceAll(',', ' ');
  return `${short(value, unit === 'perSecond' || unit === 'bytes')}${suffixes[unit]}`;
}

/** 0.05, 1.23, 12.3, 123, 1 234, or with k and M where that is usual. */
function short(value: number, withPrefix: boolean): string {
  const size = Math.abs(value);
  if (withPrefix && size >= 1e6) return `${digits(value / 1e6)} M`;
  if (withPrefix && size >= 1e4) return `${digits(value / 1e3)} k`;
  return digits(value);
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString('en').replaceAll(',', ' ');
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}
