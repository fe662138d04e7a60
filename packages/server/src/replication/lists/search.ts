/**
 * A list by due time over the whole cluster: every member gives its part, and the parts are merged, in rounds until a
 * page is full.
 */
import { CarillonError, type TimerRecord } from '@carillon/core';
import { pageBytesMax, recordBytes } from '../sizes.ts';
import type { Found, RankedPlace, SearchAsk, Total } from '../wire/search.ts';
import { Patience } from './patience.ts';
import { searchHere } from './search-here.ts';
import { mergeParts } from './search-order.ts';
import type { SearchParts } from './search-range.ts';

export interface SearchPage {
  readonly records: readonly TimerRecord[];
  readonly cursor: RankedPlace | null;
  readonly missing: readonly string[];
  /** null: it was not asked for. */
  readonly total: Total | null;
}

/** Throws CarillonError where a member cannot search. */
export async function searchEverywhere(
  parts: SearchParts,
  search: SearchAsk,
  names: readonly string[],
): Promise<SearchPage> {
  const patience = new Patience(parts.clock);
  const missing: string[] = [];
  const records: TimerRecord[] = [];
  let bytes = 0;
  let total: Total | null = null;
  let { after, wantTotal } = search;
  for (;;) {
    const limit = search.ask.limit - records.length;
    // Asks for one record more than the page holds: if it does not come, the page is the last.
    const asked = { ...search.ask, limit: limit === 0 ? 0 : limit + 1 };
    const round = { ...search, ask: asked, after, wantTotal };
    const answering = names.filter((name) => !missing.includes(name));
    const { found, ...rest } = await searchRound(parts, round, answering);
    missing.push(...rest.missing);
    total ??= wantTotal ? totalOf(found, missing) : null;
    wantTotal = false;
    const merged = mergeParts(found, limit);
    for (const record of merged.records) {
      records.push(record);
      bytes += recordBytes(record);
    }
    const full = records.length >= search.ask.limit || bytes >= pageBytesMax;
    const { cursor } = merged;
    if (full || cursor === null || patience.isOver(records.length))
      return { records, cursor, missing, total };
    after = cursor;
  }
}

interface Round {
  readonly found: readonly { readonly name: string; readonly found: Found }[];
  readonly missing: readonly string[];
}

async function searchRound(
  parts: SearchParts,
  search: SearchAsk,
  names: readonly string[],
): Promise<Round> {
  const asked = await Promise.all(
    names.map(async (name) => ({ name, found: await searchAt(parts, name, search) })),
  );
  const found = asked.flatMap(({ name, found: one }) =>
    one === null ? [] : [{ name, found: one }],
  );
  const why = found.find((one) => one.found.refused !== '')?.found.refused;
  if (why !== undefined) throw new CarillonError('overloaded', why);
  return { found, missing: asked.filter((one) => one.found === null).map(({ name }) => name) };
}

/** null: the member does not answer, or is of a release that does not know the question. */
function searchAt(parts: SearchParts, name: string, search: SearchAsk): Promise<Found | null> {
  if (name === parts.self) return searchHere(parts, search);
  return new Promise((resolve) => {
    if (parts.peers === null) return resolve(null);
    parts.peers.send(name, { type: 'search', search }, (answer) =>
      resolve(answer?.type === 'found' ? answer : null),
    );
  });
}

function totalOf(found: Round['found'], missing: readonly string[]): Total {
  let count = 0;
  let exact = missing.length === 0;
  for (const { found: one } of found) {
    count += one.total?.count ?? 0;
    exact &&= one.total?.exact ?? false;
  }
  return { count, exact };
}
