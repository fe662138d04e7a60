import { describe, expect, test } from 'vitest';
import { packageArrows } from './arrows.ts';
import { lockFile, manifests } from './dependencies.ts';
import { unusedExports } from './exports.ts';
import { deadFiles, valueCycles } from './graph.ts';
import { longLines } from './line-length.ts';
import { deadLinks } from './links.ts';
import { unreadOptions } from './options.ts';
import { parse } from './source.ts';
import { freeRelatives } from './words.ts';
import type { Package, Workspace } from './workspace.ts';

function packageNamed(folder: string, dependencies: Record<string, string> = {}): Package {
  return {
    folder: `packages/${folder}`,
    manifest: {
      name: `@carillon/${folder}`,
      dependencies,
      exports: {
        '.': { source: './src/index.ts' },
        './testing': { source: './src/testing/index.ts' },
      },
    },
  };
}

const integrity = 'sha512-x';
const names = ['core', 'placement', 'ring', 'server', 'client', 'cli', 'sim'];

/** A workspace of these files, with all packages there. */
function workspace(files: Record<string, string>): Workspace {
  const sources = Object.entries(files).map(([path, text]) => parse(path, text));
  const packages = names.map((name) =>
    packageNamed(name, name === 'server' ? { undici: '1.0.0', '@scope/a': '1.0.0' } : {}),
  );
  return { sources, packages };
}

function says(findings: readonly { path: string; line: number; says: string }[]): string[] {
  return findings.map((finding) => `${finding.path}:${finding.line} ${finding.says}`);
}

describe('arrows', () => {
  const importing = (path: string, from: string): string[] =>
    says(packageArrows(workspace({ [path]: `import { a } from '${from}';` })));

  test.each([
    ['packages/core/src/a.ts', '@carillon/placement'],
    ['packages/placement/src/a.ts', '@carillon/core'],
    ['packages/ring/src/a.ts', '@carillon/server'],
    ['packages/server/src/a.ts', '@carillon/client'],
    ['packages/client/src/a.ts', '@carillon/server'],
    ['packages/cli/src/a.ts', '@carillon/sim'],
    ['packages/sim/src/a.ts', '@carillon/cli'],
    ['packages/server/src/a.test.ts', '@carillon/sim'],
  ])('%s must not import %s', (path, from) => {
    expect(importing(path, from)).toEqual([expect.stringContaining('against the arrows')]);
  });

  test.each([
    ['packages/ring/src/a.ts', '@carillon/placement'],
    ['packages/server/src/a.ts', '@carillon/core/testing'],
    ['packages/client/src/a.test.ts', '@carillon/server'],
    ['packages/cli/src/a.ts', '@carillon/server'],
    ['packages/server/src/a.ts', './b.ts'],
    ['bench/a.ts', '@carillon/server'],
  ])('%s may import %s', (path, from) => {
    expect(importing(path, from)).toEqual([]);
  });

  test('even a type import counts, the compiler builds in the same order', () => {
    const text = `import type { A } from '@carillon/server';`;
    expect(packageArrows(workspace({ 'packages/core/src/a.ts': text }))).toHaveLength(1);
  });

  test('a relative path must not leave its package', () => {
    const [found] = importing('packages/server/src/a.ts', '../../core/src/index.ts');
    expect(found).toContain('leaves the package');
  });

  test('but for the tools of the tests in scripts/, taken by a test', () => {
    const tool = '../../../scripts/etcd.ts';
    expect(importing('packages/ring/src/a.test.ts', tool)).toEqual([]);
    expect(importing('packages/ring/src/a.ts', tool)).toHaveLength(1);
  });

  test('but for a contract suite, taken by a test along the arrows', () => {
    const suite = '../../core/src/testing/disk.contract.ts';
    expect(importing('packages/server/src/a.test.ts', suite)).toEqual([]);
    expect(importing('packages/server/src/a.ts', suite)).toHaveLength(1);
    expect(importing('packages/placement/src/a.test.ts', suite)).toHaveLength(1);
  });

  test.each([
    ['packages/core/src/a.ts', 'node:fs', 1],
    ['packages/core/src/system/disk.ts', 'node:fs', 0],
    ['packages/placement/src/a.ts', 'node:crypto', 1],
    ['packages/client/src/a.ts', 'undici', 1],
    ['packages/client/src/a.test.ts', 'node:http', 0],
    ['packages/server/src/a.ts', 'node:http', 0],
    ['packages/server/src/a.ts', 'undici', 0],
    ['packages/server/src/a.ts', 'undici/types', 0],
    ['packages/server/src/a.ts', '@scope/a/deep', 0],
    ['packages/server/src/a.ts', '@scope/b', 1],
    ['packages/server/src/a.ts', 'express', 1],
    ['packages/ring/src/a.ts', 'undici', 1],
  ])('in %s, importing %s gives %i findings', (path, from, count) => {
    expect(importing(path, from)).toHaveLength(count);
  });
  test('a lazy import is an import', () => {
    const text = `const load = () => import('node:fs');`;
    expect(packageArrows(workspace({ 'packages/core/src/a.ts': text }))).toHaveLength(1);
  });
});

describe('graph', () => {
  test('a circle of value imports is found and shown', () => {
    const found = says(
      valueCycles(
        workspace({
          'packages/core/src/a.ts': `import { b } from './b.ts';`,
          'packages/core/src/b.ts': `export { c } from './c.ts';`,
          'packages/core/src/c.ts': `import { type A } from './a.ts';`,
        }),
      ),
    );
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('src/a.ts → packages/core/src/b.ts → packages/core/src/c.ts → ');
  });

  test('a circle through an erased type import is none', () => {
    const files = {
      'packages/core/src/a.ts': `import { b } from './b.ts';`,
      'packages/core/src/b.ts': `import type { A } from './a.ts'; export type { B } from './a.ts';`,
    };
    expect(valueCycles(workspace(files))).toEqual([]);
  });

  test('a diamond is no circle', () => {
    const files = {
      'packages/core/src/a.ts': `import './b.ts'; import './c.ts';`,
      'packages/core/src/b.ts': `import './d.ts';`,
      'packages/core/src/c.ts': `import './d.ts';`,
      'packages/core/src/d.ts': '',
    };
    expect(valueCycles(workspace(files))).toEqual([]);
  });

  test('a file that no other reaches is dead, even when it imports others', () => {
    const files = {
      'packages/core/src/index.ts': `export { a } from './a.ts';`,
      'packages/core/src/a.ts': '',
      'packages/core/src/b.ts': `import './a.ts'; import './c.ts';`,
      'packages/core/src/c.ts': `import './b.ts';`,
      'packages/core/src/d.ts': '',
      'packages/core/src/d.test.ts': `import './d.ts';`,
      'packages/ring/src/index.ts': `import '@carillon/core/testing';`,
      'packages/core/src/testing/index.ts': `import type { E } from '../e.ts';`,
      'packages/core/src/e.ts': '',
    };
    expect(deadFiles(workspace(files)).map(({ path }) => path)).toEqual([
      'packages/core/src/b.ts',
      'packages/core/src/c.ts',
    ]);
  });
});

test('a file that is started as a process is reached by its name', () => {
  const files = {
    'packages/core/src/a.test.ts': `fork(join(import.meta.dirname, 'testing/writer-process.ts'));`,
    'packages/core/src/testing/writer-process.ts': `import './b.ts';`,
    'packages/core/src/testing/b.ts': '',
    'packages/core/src/testing/other-process.ts': '',
  };
  expect(deadFiles(workspace(files)).map(({ path }) => path)).toEqual([
    'packages/core/src/testing/other-process.ts',
  ]);
});

describe('dependencies', () => {
  test('core, placement and client have no dependency but each other', () => {
    expect(manifests([packageNamed('core', { lodash: '1.0.0' })])).toHaveLength(1);
    expect(manifests([packageNamed('client', { '@carillon/core': '0.2.0' })])).toEqual([]);
    expect(manifests([packageNamed('server', { undici: '1.0.0' })])).toEqual([]);
  });

  test.each(['^1.0.0', '~1.0.0', '*', 'latest', 'file:../x', '>=1'])(
    '%s is no exact version',
    (given) => {
      expect(says(manifests([packageNamed('server', { undici: given })])).join()).toContain(
        'pin one',
      );
    },
  );

  test('the lock file names the public registry only', () => {
    const lock = (resolved: string) =>
      lockFile({ packages: { 'node_modules/a': { resolved, integrity } } });
    expect(lock('https://registry.npmjs.org/a/-/a-1.0.0.tgz')).toEqual([]);
    expect(lock('https://registry.npmjs.org.example.com/a.tgz')).toHaveLength(1);
    expect(lock('git+ssh://git@example.com/a.git')).toHaveLength(1);
    expect(
      lockFile({ packages: { 'node_modules/b': { resolved: 'packages/b', link: true } } }),
    ).toEqual([]);
  });

  test('everything that is installed is known by its hash', () => {
    for (const entry of [{}, { integrity: 'sha1-x' }, { dev: true }]) {
      expect(says(lockFile({ packages: { 'node_modules/a': entry } })).join()).toContain(
        'no sha512',
      );
    }
    expect(lockFile({ packages: { 'node_modules/a': { integrity }, 'packages/a': {} } })).toEqual(
      [],
    );
  });

  test('packages that one platform needs are locked on all of them', () => {
    const tool = { integrity, optionalDependencies: { '@tool/mac': '1.0.0' } };
    expect(says(lockFile({ packages: { 'node_modules/tool': tool } })).join()).toContain(
      'not locked',
    );
    expect(
      lockFile({
        packages: { 'node_modules/tool': tool, 'node_modules/@tool/mac': { integrity } },
      }),
    ).toEqual([]);
    const nested = 'node_modules/tool/node_modules/@tool/mac';
    expect(lockFile({ packages: { 'node_modules/tool': tool, [nested]: { integrity } } })).toEqual(
      [],
    );
  });

  test('only tools of development may run a script when installed', () => {
    const entry = { integrity, hasInstallScript: true };
    expect(lockFile({ packages: { 'node_modules/a': entry } })).toHaveLength(1);
    expect(lockFile({ packages: { 'node_modules/a': { ...entry, dev: true } } })).toEqual([]);
  });
});

describe('links', () => {
  const pages: Readonly<Record<string, string>> = {
    'docs/a.md': '# A',
    'README.md': '# Start\n## `carillon`, and more (1)\n## Start\n```\n# no heading\n```\n',
  };
  const files = {
    exists: (path: string): boolean => path in pages,
    page: (path: string): string | null => pages[path] ?? null,
  };

  test('a link between documents leads to a file and to a heading of it', () => {
    const good = ['a.md', '../README.md#start', '../README.md#carillon-and-more-1', '#here'];
    const text = `# Here\n[w](https://x.test#y) ${good.map((to) => `[x](${to})`).join(' ')}`;
    expect(deadLinks('docs/b.md', `${text} [x](../README.md#start-1)`, files)).toEqual([]);
    for (const gone of ['gone.md', 'a.md#start', '#gone', '../README.md#no-heading']) {
      expect(deadLinks('docs/b.md', `# Here\n[gone](${gone})`, files)).toEqual([
        expect.objectContaining({ path: 'docs/b.md', line: 2 }),
      ]);
    }
  });

  test('text in a code block is no link', () => {
    expect(deadLinks('docs/b.md', '```\n[gone](gone.md)\n```', files)).toEqual([]);
  });
});

describe('lines of documents', () => {
  const long = 'word '.repeat(25);
  const lengths = (text: string, path = 'docs/b.md'): number[] =>
    longLines(path, text).map(({ line }) => line);

  test('over 120 characters are found, in every page', () => {
    expect(lengths(`short\n${long}\n- ${long}`)).toEqual([2, 3]);
    expect(lengths(long, 'README.md')).toEqual([1]);
    expect(lengths(long, 'packages/core/README.md')).toEqual([1]);
  });

  test('in tables, code blocks, and without a blank to break at, are no finding', () => {
    expect(lengths(`| ${long} |\n\`\`\`\n${long}\n\`\`\`\n- ${'x'.repeat(130)}`)).toEqual([]);
  });
});

describe('free relatives', () => {
  const files = {
    'packages/core/src/a.ts': '// Who asks.\nexport const a = 1; // What it is.\n',
    'packages/core/src/b.test.ts': '/** For those that ask, whoever. */\n',
    'packages/core/src/c.ts':
      '/**\n * What is said on several lines.\n */\n// The whole, whatsoever.\n',
    'bench/d.ts': '// Nobody.\n',
  };

  test('one-line comments with such a word are counted over all packages, tests included', () => {
    expect(freeRelatives(workspace(files), 3)).toEqual([]);
    const [first] = freeRelatives(workspace(files), 2);
    expect(first?.says).toContain('2 of 3 one-line comments in packages');
  });

  test('above the maximum, the files with the most such comments are named first', () => {
    const found = freeRelatives(workspace(files), 0);
    expect(found.map(({ path, line }) => `${path}:${line}`)).toEqual([
      'packages/core/src/a.ts:1',
      'packages/core/src/b.test.ts:1',
    ]);
  });
});

describe('exports', () => {
  const path = 'packages/core/src/a.ts';
  const finding = (name: string): unknown =>
    expect.stringContaining(`${path}:1 ${name} is exported and no other file imports it`);

  test.each([
    ['export function used() {}', 'used'],
    ['export const used = 1;', 'used'],
    ['export class used {}', 'used'],
  ])('%s needs an import elsewhere', (text, name) => {
    const importing = (from: string): Record<string, string> => ({
      [path]: text,
      'packages/core/src/b.ts': from,
    });
    expect(says(unusedExports(workspace(importing(''))))).toEqual([finding(name)]);
    for (const from of [
      "import { used } from './a.ts';",
      "import { used as other } from './a.ts';",
      "import * as all from './a.ts';",
      "export { used } from './a.ts';",
      "const a = await import('./a.ts');",
    ]) {
      expect(says(unusedExports(workspace(importing(from)))), from).toEqual([]);
    }
    const other = importing("import { unused } from './a.ts';");
    expect(says(unusedExports(workspace(other)))).toEqual([finding(name)]);
  });

  test('types, tests and entries of packages may export more', () => {
    const files = {
      [path]: 'export interface Shape {} export type Other = Shape;',
      'packages/core/src/a.contract.ts': 'export const a = 1;',
      'packages/core/src/index.ts': 'export const b = 1;',
    };
    expect(says(unusedExports(workspace(files)))).toEqual([]);
  });
});

describe('options', () => {
  const table = 'packages/server/src/config/options/limits.ts';
  const options =
    'const options = {\n  one: option(1, whole),\n  deep: { two: option(2, whole) } };';

  test('each is read outside of the configuration', () => {
    const read = (path: string, text: string): string[] =>
      says(unreadOptions(workspace({ [table]: options, [path]: text })));
    const both = ['one', 'two'].map((name, i) =>
      expect.stringContaining(`${table}:${i + 2} the option ${name} is read by no code`),
    );
    const use = 'const { one } = config; use(config.deep.two);';
    expect(read('packages/server/src/a.ts', use)).toEqual([]);
    expect(read('packages/server/src/a.ts', 'const one = { two: 2 };')).toEqual(both);
    expect(read('packages/server/src/config/load.ts', use)).toEqual(both);
    expect(read('packages/server/src/a.test.ts', use)).toEqual(both);
  });
});
