/**
 * Ids and cursors as clients of a namespace know them, to and from the numbers that members keep. Every id and cursor
 * of a request comes through here, and so does every one that leaves a member: in answers, lists, callbacks and dead
 * letters.
 */
import {
  CarillonError,
  formatTimerId,
  hex16,
  type Numbering,
  parseHex16,
  parseTimerId,
  type TimerId,
  type TimerRecord,
} from '@carillon/core';
import type { View } from '../cluster/view/view.ts';
import { orderStart } from '../replication/lists/search-order.ts';
import type { Numbered } from '../replication/wire/parts.ts';
import type { RankedPlace } from '../replication/wire/search.ts';

/** The last instant that a JavaScript `Date` can hold. */
const wallMsMax = 8.64e15;
const handleCountMax = 2 ** 26;

export class ClientIds {
  private readonly numbering: Numbering;
  private readonly view: () => View;

  constructor(numbering: Numbering, view: () => View) {
    this.numbering = numbering;
    this.view = view;
  }

  /** The number under which members keep one that a client chose or was given. */
  number(namespace: string, number: Numbered): Numbered {
    return this.numbering.inside(namespace, number);
  }

  /** The number under which members keep a timer that clients know by this id; null: it is no id. */
  parse(namespace: string, id: string): Numbered | null {
    const parsed = parseTimerId(id);
    return parsed === null ? null : this.number(namespace, parsed);
  }

  /** The id of a client as members know it. */
  read(namespace: string, id: TimerId): TimerId {
    return { ...id, ...this.numbering.inside(namespace, id) };
  }

  /** The id, as clients of its namespace know it, that leads to the record's present replicas. */
  of(record: TimerRecord): string {
    const bloom = this.view().bloomOf(record.replicas);
    const { hi, lo } = this.numbering.outside(record.namespace, record);
    return formatTimerId({ hi, lo, factor: record.factor, bloomHi: bloom.hi, bloomLo: bloom.lo });
  }

  /** The number of a timer as clients of its namespace know it, in 16 hex digits: an id without replicas and factor. */
  short(namespace: string, number: Numbered): string {
    const { hi, lo } = this.numbering.outside(namespace, number);
    return hex16(hi, lo);
  }

  /** Of a list by due time. Throws CarillonError for a cursor that leads to no time or record. */
  readPlace(namespace: string, cursor: string | null): RankedPlace {
    if (cursor === null) return orderStart;
    const [time, rest] = [parseHex16(cursor.slice(0, 16)), parseHex16(cursor.slice(16))];
    if (time === null || rest === null) throw badCursor();
    const { hi, lo } = this.numbering.inside(cursorsOf(namespace), time);
    const where = this.numbering.inside(cursorsOf(namespace), rest);
    const ms = hi * 2 ** 32 + lo;
    if (ms > wallMsMax || where.hi >= handleCountMax) throw badCursor();
    return { ms, handle: where.hi, rank: where.lo };
  }

  place(namespace: string, place: RankedPlace | null): string | null {
    if (place === null) return null;
    const ms = Math.max(0, place.ms);
    const time = { hi: Math.floor(ms / 2 ** 32), lo: ms % 2 ** 32 };
    const where = { hi: Math.max(0, place.handle), lo: place.rank };
    return [time, where]
      .map((number) => this.numbering.outside(cursorsOf(namespace), number))
      .map(({ hi, lo }) => hex16(hi, lo))
      .join('');
  }

  /** Empty: the beginning of a list. Throws CarillonError for a text that is no cursor. */
  readCursor(namespace: string, cursor: string | null): string {
    if (cursor === null) return '';
    const given = parseHex16(cursor);
    if (given === null) throw badCursor();
    const { hi, lo } = this.numbering.inside(cursorsOf(namespace), given);
    return hex16(hi, lo);
  }

  cursor(namespace: string, cursor: string | null): string | null {
    const number = parseHex16(cursor ?? '');
    if (number === null) return null;
    const { hi, lo } = this.numbering.outside(cursorsOf(namespace), number);
    return hex16(hi, lo);
  }
}

export function badCursor(): CarillonError {
  return new CarillonError(
    'bad_request',
    'The parameter cursor must be one that an earlier page of the same list gave out.',
  );
}

/**
 * A page may stop at a record of any namespace, whose number is no business of others. So cursors have a mapping of
 * their own, also in `default`. No namespace has a blank in its name.
 */
function cursorsOf(namespace: string): string {
  return `cursors of ${namespace}`;
}
