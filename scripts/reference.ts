/**
 * Writes the reference pages in docs/, and the tables and the graph of ARCHITECTURE.md, from the code they describe.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { architecturePage, houseFigures } from './reference/architecture.ts';
import { configurationPage, metricsPage } from './reference/pages.ts';

const docs = join(import.meta.dirname, '../docs');
writeFileSync(join(docs, 'configuration.md'), configurationPage());
writeFileSync(join(docs, 'metrics.md'), metricsPage());

const architecture = join(import.meta.dirname, '../ARCHITECTURE.md');
const page = readFileSync(architecture, 'utf8');
writeFileSync(architecture, architecturePage(page, houseFigures()));
