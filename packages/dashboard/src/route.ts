/** Which view is shown: the part of the address behind the `#`, so that a member has one page to serve. */
import { signal } from '@preact/signals';

export interface Route {
  /** `overview`, `timers` … */
  readonly view: string;
  /** The rest of the path behind the view: a timer id, a member's name. */
  readonly part: string;
  readonly query: URLSearchParams;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?');
  const [view = '', ...rest] = path.split('/');
  return {
    view: view === '' ? 'overview' : view,
    part: decoded(rest.join('/')),
    query: new URLSearchParams(query),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const route = signal<Route>(parseRoute(''));

/** Whether the next change of the address comes from a link or a form, and not from Back or Forward. */
let isOnward = false;

export function followAddress(): void {
  const take = (): void => {
    route.value = parseRoute(location.hash);
  };
  addEventListener('hashchange', () => {
    const { view, part } = route.value;
    take();
    const isOtherPage = route.value.view !== view || route.value.part !== part;
    // Another page begins at its top; Back leads to where the page was left.
    if (isOnward && isOtherPage) scrollTo(0, 0);
    isOnward = false;
  });
  addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a[href^="#/"]') !== null) isOnward = true;
  });
  take();
}

export function go(hash: string): void {
  isOnward = true;
  location.hash = hash;
}
