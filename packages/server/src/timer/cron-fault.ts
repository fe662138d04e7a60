/**
 * Which field of a cron pattern is at fault, in the numbers of the field. The library tells faults in its own: a month
 * of 13 is 12 to it. So each field is tried by itself, among fields that allow everything.
 */
import { Cron } from 'croner';

interface Field {
  readonly name: string;
  readonly allowed: string;
}

const fields: readonly Field[] = [
  { name: 'second', allowed: '0-59' },
  { name: 'minute', allowed: '0-59' },
  { name: 'hour', allowed: '0-23' },
  {
    name: 'day of the month',
    allowed: '1-31, L for the last one, 15W for the weekday nearest to it',
  },
  { name: 'month', allowed: '1-12, JAN-DEC' },
  {
    name: 'day of the week',
    allowed: '0-7, SUN-SAT, MON#2 for the second one, 5L for the last one',
  },
];

/** A sentence about the first fault of these 5 or 6 fields; null: each of them is right by itself. */
export function cronFieldFault(given: readonly string[]): string | null {
  const first = fields.length - given.length;
  for (const [i, text] of given.entries()) {
    const field = fields[first + i];
    if (field === undefined || isRight(first + i, text)) continue;
    const items = text.split(',');
    const bad = items.includes('') ? text : items.find((item) => !isRight(first + i, item));
    return (
      `The cron pattern has "${bad ?? text}" as its ${field.name}; allowed are ${field.allowed}, ` +
      'and *, lists (1,15), ranges upwards (1-5) and steps (*/5).'
    );
  }
  return null;
}

function isRight(place: number, text: string): boolean {
  try {
    const pattern = fields.map((_, i) => (i === place ? text : '*')).join(' ');
    return new Cron(pattern, { utcOffset: 0, paused: true }).getPattern() !== '';
  } catch {
    return false;
  }
}
