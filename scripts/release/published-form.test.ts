/** How a package's texts change when it is published. */
import { expect, test } from 'vitest';
import {
  namedFiles,
  publishedManifest,
  publishedReadme,
  publishedSource,
} from './published-form.ts';

const origin = {
  homepage: 'https://carillon.example/carillon',
  repository: { type: 'git', url: 'git+https://carillon.example/carillon.git' },
};

test('a manifest loses the entries and conditions of the clone, and says where it comes from', () => {
  const manifest = {
    name: '@carillon/x',
    version: '1.2.3',
    private: true,
    exports: {
      '.': { source: './src/index.ts', types: './dist/index.d.ts', default: './dist/index.js' },
      './internal': { source: './src/internal.ts' },
    },
    files: ['dist', 'README.md'],
    scripts: { test: 'vitest' },
    dependencies: { '@carillon/core': '1.2.3' },
  };
  expect(publishedManifest(manifest, { origin, folder: 'packages/x' })).toEqual({
    name: '@carillon/x',
    version: '1.2.3',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    files: ['dist', 'README.md', 'LICENSE'],
    dependencies: { '@carillon/core': '1.2.3' },
    homepage: 'https://carillon.example/carillon/blob/main/packages/x#readme',
    repository: {
      type: 'git',
      url: 'git+https://carillon.example/carillon.git',
      directory: 'packages/x',
    },
  });
});

test.each([
  ['[a](../../docs/a.md#b)', '[a](https://carillon.example/carillon/blob/main/docs/a.md#b)'],
  [
    '[v](vectors/v.json)',
    '[v](https://carillon.example/carillon/blob/main/packages/x/vectors/v.json)',
  ],
  ['[there](#there) [w](https://w.example/)', '[there](#there) [w](https://w.example/)'],
])('a README with %s is published with %s', (before, after) => {
  expect(publishedReadme(before, 'packages/x', origin)).toBe(after);
});

test('a built file loses the name of its map, a declaration names the files beside it as they are published', () => {
  const text = "export { a } from './a/b.ts';\n//# sourceMappingURL=index.d.ts.map\n";
  expect(publishedSource('dist/index.d.ts', text)).toBe("export { a } from './a/b.js';\n");
  expect(publishedSource('dist/index.js', 'a();\n//# sourceMappingURL=x')).toBe('a();\n');
});

test('the files that a built file names are found in imports of every kind and in addresses', () => {
  const text = `import './a.js'; export * from "../b.js"; await import('./c.js'); new URL('./d.js', here);
    import 'node:fs'; import '@carillon/core';`;
  expect(namedFiles(text)).toEqual(['./a.js', '../b.js', './c.js', './d.js']);
});
