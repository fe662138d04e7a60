/** Writes the reference pages in docs/ from the code they describe. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { configurationPage, metricsPage } from './reference/pages.ts';

const docs = join(import.meta.dirname, '../docs');
writeFileSync(join(docs, 'configuration.md'), configurationPage());
writeFileSync(join(docs, 'metrics.md'), metricsPage());
