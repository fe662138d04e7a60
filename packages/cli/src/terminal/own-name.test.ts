import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ownName } from './own-name.ts';

test('in a clone of the repository the binary is an npm script, elsewhere itself', () => {
  const manifest = new URL('../../../../package.json', import.meta.url);
  const { name, scripts } = JSON.parse(readFileSync(manifest, 'utf8')) as {
    name: string;
    scripts: Record<string, string>;
  };
  expect(ownName({ env: { npm_package_name: name } })).toBe('npm run carillon --');
  expect(scripts).toHaveProperty('carillon');
  expect(ownName({ env: { npm_package_name: 'shop' } })).toBe('carillon');
  expect(ownName({ env: {} })).toBe('carillon');
});
