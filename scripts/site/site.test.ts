/** The site: how pages are changed for it, and that it can be built without a link that leads nowhere. */
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildSite } from './build.ts';
import { sidebar, sitePage, titleOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
/** The build takes two minutes of a processor that others want too. */
const timeout = 600_000;

test('links between pages stay in the site, all others lead to the repository', () => {
  const page = (text: string, path = 'docs/a.md') => sitePage(text, path, 'https://r.example/r');
  expect(page('[b](b.md#c) [d](decisions/1.md) [top](../README.md)')).toBe(
    '[b](/b.md#c) [d](/decisions/1.md) [top](/)',
  );
  expect(page('[x](../examples/x.ts)')).toBe('[x](https://r.example/r/blob/main/examples/x.ts)');
  expect(page('![p](docs/images/p.png) [d](docs/)', 'README.md')).toBe(
    '![p](/images/p.png) [d](/)',
  );
  expect(page('[w](https://w.example/) [here](#there)')).toBe(
    '[w](https://w.example/) [here](#there)',
  );
});

test('no page is missing from the sidebar', () => {
  const names = globSync('docs/*.md', { cwd: root }).map((page) => page.slice(5, -3));
  const titles = new Map(
    names.map((name) => [name, titleOf(readFileSync(join(root, 'docs', `${name}.md`), 'utf8'))]),
  );
  const items = sidebar(titles).flatMap((group) => group.items);
  expect(items.map(({ link }) => link.slice(1)).toSorted()).toEqual(names.toSorted());
  expect(items.filter(({ text }) => text === '')).toEqual([]);
});

test('the site is built from README, docs and the types of the packages', { timeout }, async () => {
  const target = mkdtempSync(join(tmpdir(), 'carillon-site-'));
  try {
    await buildSite(target);
    const has = (file: string, words: string): boolean =>
      readFileSync(join(target, file), 'utf8').includes(words);
    expect(has('index.html', 'Carillon rings the right bell')).toBe(true);
    expect(has('getting-started.html', '@carillon/client')).toBe(true);
    for (const [name, word] of [
      ['client', 'CarillonOptions'],
      ['placement', 'topologyFor'],
      ['ring', 'RingOptions'],
      ['server', 'startMember'],
    ] as const) {
      expect([name, has(`reference/${name}/index.html`, word)]).toEqual([name, true]);
    }
  } finally {
    rmSync(target, { recursive: true, force: true });
  }
});
