/** The title of the window for each address, most particular word first: tabs and bookmarks are told apart by it. */
import { shortId } from './format.ts';
import type { Route } from './route.ts';

const names: Readonly<Record<string, string>> = {
  overview: 'Overview',
  topology: 'Topology',
  timers: 'Timers',
  'dead-letters': 'Dead letters',
  audit: 'Audit',
  placement: 'Placement',
  locks: 'Locks',
  doctor: 'Doctor',
};

export function titleOf({ view, part, query }: Route, member: string | null): string {
  const page = partTitle(view, part, query) ?? names[view] ?? capital(view);
  return [page, ...(member === null ? [] : [member]), 'Carillon'].join(' · ');
}

function partTitle(view: string, part: string, query: URLSearchParams): string | null {
  if (view === 'timers' && part === 'new') return 'Set a timer';
  if (view === 'timers' && part === 'edit') return `Edit timer ${shortId(query.get('id') ?? '')}`;
  if (part === '') return null;
  if (view === 'timers') return `Timer ${shortId(part)}`;
  if (view === 'dead-letters') return `Dead letter ${shortId(part)}`;
  return view === 'topology' ? `Member ${part}` : null;
}

/** `support-bundle` → `Support bundle`. */
function capital(view: string): string {
  const words = view.replaceAll('-', ' ');
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
