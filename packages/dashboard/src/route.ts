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

export function followAddress(): void {
  const take = (): void => {
    route.value = parseRoute(location.hash);
  };
  addEventListener('hashchange', take);
  take();
}

export function go(hash: string): void {
  location.hash = hash;
}
