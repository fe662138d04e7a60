/**
 * The next time a cron pattern names. A pattern that names no day is found out by a search through 41 years, not until
 * the end of the calendar, which takes most of a second for some; and the verdict is kept. A pattern that names a day
 * at all names one within 40 years, also where 29 February must be a certain weekday and 2100 is no leap year.
 */
import { Cron } from 'croner';

const yearsAhead = 41;
const yearMax = 9999;
const keptCountMax = 512;

/** Remembers a result for each text, as long as there are not too many texts. */
class Kept<T> {
  private readonly byText = new Map<string, T>();

  get(text: string, find: () => T): T {
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    const found = find();
    if (this.byText.size >= keptCountMax) this.byText.clear();
    this.byText.set(text, found);
    return found;
  }
}

const crons = new Kept<Cron>();
const verdicts = new Kept<boolean>();

/** Throws the library's error for a text that is no pattern. */
export function nextCron(pattern: string, timezone: string | null, afterMs: number): number | null {
  const fields = pattern.split(' ').filter((field) => field !== '');
  const zone = timezone ?? 'UTC';
  // A name such as @daily, or years of its own.
  if (fields.length !== 5 && fields.length !== 6) return next(pattern, zone, afterMs);
  // A time zone may still be in the year before.
  const year = new Date(afterMs).getUTCFullYear() - 1;
  const years = `${year}-${Math.min(yearMax, year + yearsAhead)}`;
  const timed = fields.length === 5 ? ['0', ...fields] : fields;
  const cron = compiled(`${timed.join(' ')} ${years}`, zone);
  const days = `0 0 0 ${timed.slice(3).join(' ')} ${years}`;
  const hasDay = verdicts.get(days, () => next(days, 'UTC', Date.UTC(year, 0, 1) - 1) !== null);
  return hasDay ? (cron.nextRun(new Date(afterMs))?.getTime() ?? null) : null;
}

function next(pattern: string, zone: string, afterMs: number): number | null {
  return compiled(pattern, zone).nextRun(new Date(afterMs))?.getTime() ?? null;
}

function compiled(pattern: string, timezone: string): Cron {
  return crons.get(`${timezone} ${pattern}`, () => new Cron(pattern, { timezone, paused: true }));
}
