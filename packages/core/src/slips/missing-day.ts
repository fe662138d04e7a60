/** Days that no calendar has, found at the beginning of instants as texts. */

/**
 * The day of an instant that its month does not have, such as 2027-02-30; null: there is no such fault. `Date` takes
 * such a text for a day of the next month.
 */
export function missingDay(text: string): string | null {
  const [found, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)/.exec(text) ?? [];
  if (found === undefined) return null;
  return Number(day) > daysIn(Number(year), Number(month)) || day === '00' ? found : null;
}

/** 0 for a month that no year has. */
function daysIn(year: number, month: number): number {
  if (month < 1 || month > 12) return 0;
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
