/** Writes a report: data, page and pictures to a folder, and the figures of a whole run into the docs. */
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { picturesOf } from './page/charts.ts';
import { pageOf } from './page/html.ts';
import {
  isPlaced,
  withCosts,
  withFigures,
  withNewest,
  withNewestSummary,
  withPlaced,
  withSummary,
} from './page/markdown.ts';
import type { Report } from './page/section.ts';

export async function writeReport(folder: string, report: Report): Promise<void> {
  await mkdir(folder, { recursive: true });
  await removePictures(folder);
  await writeFile(join(folder, 'results.json'), `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(join(folder, 'index.html'), pageOf(report));
  for (const section of report.sections) {
    for (const { file, svg } of picturesOf(section)) await writeFile(join(folder, file), svg);
  }
}

/** The sections with marks of their own into docs/benchmarks.md, with their pictures, from a run of any parts. */
export async function writePlaced(root: string, report: Report): Promise<void> {
  const page = join(root, 'docs/benchmarks.md');
  await writeFile(page, withPlaced(await readFile(page, 'utf8'), report));
  for (const { file, svg } of report.sections.filter(isPlaced).flatMap(picturesOf)) {
    await writeFile(join(root, 'docs/images', file), svg);
  }
}

/**
 * Sets, bulk, burst and updates of a run without the other parts: into docs/benchmarks.md, and in short into README.md.
 */
export async function writeNewest(root: string, report: Report): Promise<void> {
  for (const [name, written] of [
    ['docs/benchmarks.md', withNewest],
    ['README.md', withNewestSummary],
  ] as const) {
    const page = join(root, name);
    await writeFile(page, written(await readFile(page, 'utf8'), report));
  }
}

/** From the folder of the report into the docs of the clone. */
export async function writeDocs(root: string, folder: string, report: Report): Promise<void> {
  const images = join(root, 'docs/images');
  for (const [name, written] of [
    ['docs/benchmarks.md', withFigures],
    ['README.md', withSummary],
    ['docs/cost.md', withCosts],
  ] as const) {
    const page = join(root, name);
    await writeFile(page, written(await readFile(page, 'utf8'), report));
  }
  await removePictures(images, await readFile(join(root, 'docs/benchmarks.md'), 'utf8'));
  for (const name of await readdir(folder)) {
    if (isPicture(name)) await copyFile(join(folder, name), join(images, name));
  }
}

/**
 * Removes the pictures of earlier runs but the ones on the page: they may show things that are not measured any more.
 */
async function removePictures(folder: string, page = ''): Promise<void> {
  for (const name of await readdir(folder)) {
    if (isPicture(name) && !page.includes(`(images/${name})`)) await rm(join(folder, name));
  }
}

function isPicture(name: string): boolean {
  return /^bench-[\w-]+\.svg$/.test(name);
}
