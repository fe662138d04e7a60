/** The pages of the site from the pages of the repository: texts in, texts out. */
import { posix } from 'node:path';

/** `page`: its path in the repository; `homepage`: the address of the repository. */
export function sitePage(text: string, page: string, homepage: string): string {
  const base = posix.dirname(page);
  return text.replaceAll(/\]\((?![a-z]+:|#)([^)\s]+)\)/g, (_, target: string) => {
    const [path = '', anchor] = target.split('#');
    const found = posix.normalize(posix.join(base, path));
    const place = inSite(found) ?? `${homepage}/blob/main/${found}`;
    return `](${place}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}

/** Where a file of the repository is in the site; null: nowhere. */
function inSite(path: string): string | null {
  if (path === 'README.md') return '/';
  if (path.startsWith('docs/')) return path.slice('docs'.length);
  return null;
}

export interface SidebarGroup {
  readonly text: string;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

/** Pages by the questions that lead to them; pages that no group names come last, so that none is hidden. */
const groups: Readonly<Record<string, readonly string[]>> = {
  Start: ['getting-started', 'receivers', 'testing', 'migrating'],
  Questions: ['why-no-callback', 'when-a-member-dies', 'how-many-members', 'cost'],
  Reference: ['http-api', 'configuration', 'metrics', 'events', 'glossary'],
  Operating: ['operating', 'dashboard', 'upgrading', 'security', 'threat-model'],
  'Where a key lives': ['placement', 'lock-ring', 'original-notes'],
  Inside: ['promises', 'cluster', 'simulation', 'benchmarks'],
};

/** `titles`: of the pages directly in docs/, by their names without `.md`. */
export function sidebar(titles: ReadonlyMap<string, string>): SidebarGroup[] {
  const named = new Set(Object.values(groups).flat());
  const others = [...titles.keys()].filter((name) => !named.has(name));
  return Object.entries({ ...groups, More: others }).map(([text, names]) => ({
    text,
    items: names
      .filter((name) => titles.has(name))
      .map((name) => ({ text: titles.get(name) as string, link: `/${name}` })),
  }));
}

/** The first heading of a page. */
export function titleOf(text: string): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? '';
}
