/** Which timers a list shows, as the address of the page has it and as the API is asked. Pure. */

export interface TimerFilter {
  /**
   * As it was typed: a tag, the beginning of one with a star behind it (`order:*`), or the URL of a receiver. Empty:
   * all.
   */
  readonly search: string;
  /** Empty: all that will pop. */
  readonly state: string;
  /** `any`: in no order that means something, which needs no index. Empty: by due time. */
  readonly order: string;
  /** RFC 3339 instants; empty: no end. */
  readonly from: string;
  readonly to: string;
}

export const noFilter: TimerFilter = { search: '', state: '', order: '', from: '', to: '' };

const names = ['search', 'state', 'order', 'from', 'to'] as const satisfies (keyof TimerFilter)[];

export function filterOf(query: URLSearchParams): TimerFilter {
  const filter: Record<(typeof names)[number], string> = { ...noFilter };
  for (const name of names) filter[name] = query.get(name) ?? '';
  // Links of other pages name a tag.
  if (filter.search === '') filter.search = query.get('tag') ?? '';
  return filter;
}

export function addressOf(filter: TimerFilter, at = ''): string {
  const query = new URLSearchParams();
  for (const name of names) if (filter[name] !== '') query.set(name, filter[name]);
  if (at !== '') query.set('at', at);
  return `#/timers${query.size === 0 ? '' : `?${query.toString()}`}`;
}

export function isFiltered({ search, state, from, to }: TimerFilter): boolean {
  return [search, state, from, to].some((text) => text !== '');
}

/** Parameters of `GET /timers`. */
export function parametersOf({ search, state, order, from, to }: TimerFilter): URLSearchParams {
  const parameters = new URLSearchParams();
  if (/^https?:\/\//.test(search)) parameters.set('receiver', search);
  else if (search.length > 1 && search.endsWith('*')) {
    parameters.set('tag-prefix', search.slice(0, -1));
  } else if (search !== '') parameters.set('tag', search);
  if (state !== '') parameters.set('state', state);
  if (order !== 'any') parameters.set('order', 'due');
  if (from !== '') parameters.set('from', from);
  if (to !== '') parameters.set('to', to);
  return parameters;
}

/** For a field of local time, which has minutes; empty for no instant. */
export function localOf(instant: string): string {
  const ms = Date.parse(instant);
  if (Number.isNaN(ms)) return '';
  const shifted = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}

/** The instant of a local time, as such a field gives it; empty for none. */
export function instantOf(local: string): string {
  const at = new Date(local);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}
