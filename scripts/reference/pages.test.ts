import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { configurationPage, metricsPage } from './pages.ts';

const docs = join(import.meta.dirname, '../../docs');

test('docs/configuration.md is up to date with the options; if not, run npm run reference', () => {
  expect(readFileSync(join(docs, 'configuration.md'), 'utf8')).toBe(configurationPage());
});

test('docs/metrics.md is up to date with the metrics; if not, run npm run reference', () => {
  expect(readFileSync(join(docs, 'metrics.md'), 'utf8')).toBe(metricsPage());
});

test('each option has its default, its values and its three names', () => {
  const page = configurationPage().replaceAll('\n', ' ');
  expect(page).toContain('### `limits.bodyBytesMax`');
  expect(page).toContain('Default: `262 144`. Values: a whole number from 1024 to');
  expect(page).toContain(
    'Flag `--limits-body-bytes-max`, variable `CARILLON_LIMITS_BODY_BYTES_MAX`.',
  );
  expect(page).not.toContain('Values: any');
});
