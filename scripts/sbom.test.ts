/** The parts of a release: each is known, comes with a hash, and runs nothing when it is installed. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Lock, runtimeTree } from './sbom/runtime-tree.ts';

const root = join(import.meta.dirname, '..');
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;
const workspaces = ['cli', 'server', 'client', 'ring', 'placement', 'core'];

describe('runtimeTree', () => {
  const small: Lock = {
    packages: {
      'packages/a': { dependencies: { b: '1.0.0', '@own/c': '1.0.0' } },
      'packages/c': { dependencies: { d: '1.0.0' } },
      'node_modules/@own/c': { resolved: 'packages/c', link: true },
      'node_modules/b': { version: '1.0.0', dependencies: { d: '^2.0.0' } },
      'node_modules/b/node_modules/d': { version: '2.0.0' },
      'node_modules/d': { version: '1.0.0', optionalDependencies: { gone: '1.0.0' } },
      'node_modules/tool': { version: '1.0.0' },
    },
  };

  test('follows the dependencies of each package to their folders, and leaves the rest out', () => {
    expect(
      runtimeTree(small, 'packages/a')
        .map(({ key }) => key)
        .toSorted(),
    ).toEqual([
      'node_modules/b',
      'node_modules/b/node_modules/d',
      'node_modules/d',
      'packages/a',
      'packages/c',
    ]);
  });

  test('does not overlook a dependency that is not locked', () => {
    const broken: Lock = { packages: { 'packages/a': { dependencies: { b: '1.0.0' } } } };
    expect(() => runtimeTree(broken, 'packages/a')).toThrow('packages/a needs b');
  });
});

test.each(workspaces)(
  'packages/%s: nothing that runs has a script for its installation, and all of it has a hash',
  (name) => {
    const foreign = runtimeTree(lock, `packages/${name}`).filter(({ key }) =>
      key.includes('node_modules/'),
    );
    for (const { key, hasInstallScript, integrity } of foreign) {
      expect(hasInstallScript, key).toBeUndefined();
      expect(integrity, key).toMatch(/^sha512-/);
      // The lock file says that there is no install script; the installed manifest must agree.
      const { scripts = {} } = JSON.parse(
        readFileSync(join(root, key, 'package.json'), 'utf8'),
      ) as {
        scripts?: Record<string, string>;
      };
      for (const script of ['preinstall', 'install', 'postinstall']) {
        expect(Object.keys(scripts), key).not.toContain(script);
      }
    }
  },
);

test('the bill of a release lists everything that runs, once, and nothing else', () => {
  const { stdout, status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/sbom.ts')], {
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  const bill = JSON.parse(stdout) as {
    bomFormat: string;
    metadata: { component: { name: string } };
    components: { 'bom-ref': string }[];
  };
  expect([bill.bomFormat, bill.metadata.component.name]).toEqual(['CycloneDX', 'carillon']);
  const names = bill.components.map((one) => one['bom-ref'].replace(/@[^@]+$/, ''));
  expect(names).toContain('croner');
  expect(names).toContain('@carillon/server');
  expect(names).not.toContain('vitest');
  expect(names).toHaveLength(runtimeTree(lock, 'packages/cli').length - 1);
  expect(stdout).not.toContain(root);
});
