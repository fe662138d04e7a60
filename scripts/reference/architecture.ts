/**
 * The parts of ARCHITECTURE.md that follow from the source: how many files each room has and which rooms it knows, the
 * graph of rooms, and the present column of "The house in figures". The words between them are written by hand.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { isTest, parse, type Source } from '../tidy/source.ts';
import { rooms, twoWayFolders } from '../tidy/rooms.ts';
import { freeRelativeCount } from '../tidy/words.ts';

const root = join(import.meta.dirname, '../..');
const server = 'packages/server/src';

/** The page with everything in it that follows from the source. A room without a row gets one that lacks its job. */
export function architecturePage(page: string, figures: Figures): string {
  return withFigures(withGraph(withTable(page)), figures);
}

/** The first cell of a row in "The house in figures", and its present value. */
export type Figures = Readonly<Record<string, string>>;

const tableHead = '| room | its job | files | knows |\n|---|---|---:|---|\n';

function withTable(page: string): string {
  const jobs = new Map(
    [...page.matchAll(/^\| `(\S+)\/` \| (.*) \| \d+ \| [^|]* \|$/gm)].map(([, room, job]) => [
      room,
      job,
    ]),
  );
  const rows = Object.entries(rooms).map(([room, known]) => {
    const knows = known.length === 0 ? '–' : known.join(', ');
    return `| \`${room}/\` | ${jobs.get(room) ?? ''} | ${fileCount(room)} | ${knows} |\n`;
  });
  return between(page, tableHead, '\n', rows.join(''));
}

function withGraph(page: string): string {
  const arrows = Object.entries(rooms).flatMap(([from, known]) =>
    known.map((to) => `  ${vertex(from)} --> ${vertex(to)}\n`),
  );
  return between(page, '```mermaid\ngraph TD\n', '```\n', arrows.join(''));
}

/** An id without marks, and the name that is shown. */
function vertex(room: string): string {
  return `${room.replaceAll(/\W/g, '_')}[${room}]`;
}

function withFigures(page: string, figures: Figures): string {
  return Object.entries(figures).reduce((text, [figure, now]) => {
    const [head, ...rows] = text.split(`| ${figure} | `);
    if (head === undefined || rows.length !== 1) throw new Error(`no row tells of ${figure}`);
    const [before, , ...rest] = (rows[0] as string).split(' | ');
    return `${head}| ${figure} | ${[before, now, ...rest].join(' | ')}`;
  }, page);
}

/** The page with `text` in place of everything from the end of `start` to the next `end`. */
function between(page: string, start: string, end: string, text: string): string {
  const from = page.indexOf(start);
  if (from < 0) throw new Error(`ARCHITECTURE.md has lost the line ${start.trim()}`);
  const to = page.indexOf(`\n${end}`, from + start.length) + 1;
  return page.slice(0, from + start.length) + text + page.slice(to);
}

function fileCount(room: string): number {
  return readdirSync(join(root, server, room)).filter((name) => /^[^.]+\.ts$/.test(name)).length;
}

/** Measured in the source as it is now. */
export function houseFigures(): Figures {
  const all = sourcesOfPackages();
  const shipped = all.filter(({ path }) => !isTest(path) && /^packages\/[^/]+\/src\//.test(path));
  const text = (path: string): string => readFileSync(join(root, server, path), 'utf8');
  const folders = Map.groupBy(shipped, ({ path }) => posix.dirname(path));
  const [largest, files] = [...folders].toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [];
  const lines = shipped.reduce((sum, { lineCount }) => sum + lineCount, 0);
  const workspace = { sources: all, packages: [] };
  return {
    'files in the root of the server': String(folders.get(server)?.length),
    'files in the largest folder': `${files?.length} (\`${largest?.replace('packages/', '')}\`)`,
    'pairs of rooms that know each other both ways': String(twoWayFolders(workspace).length / 2),
    'lines of the popper': String(text('pop/popper.ts').split('\n').length - 1),
    'parts that the popper is given': String(
      count(text('pop/popper.ts'), /interface PopperParts \{\n([^}]*)/, /^ {2}readonly \w+\??:/gm),
    ),
    'fields of the journal that change': String(
      count(
        text('store/journal/journal.ts'),
        /class Journal \{\n(.*)/s,
        /^ {2}private \w+(:| =)/gm,
      ),
    ),
    'call sites of `write()` in requests': placesOf(
      shipped.filter(({ path }) => path.startsWith(`${server}/request/`)),
      /[^.\w]write\(this\.parts/g,
    ),
    'one-line comments with who, those, nobody or what': String(freeRelativeCount(workspace)),
    'lines of source': (Math.round(lines / 100) * 100).toLocaleString('en-US'),
  };
}

/** How often the second form occurs in the part that the first one finds. */
function count(text: string, part: RegExp, form: RegExp): number {
  return (part.exec(text)?.[1]?.match(form) ?? []).length;
}

/** How often the form occurs in the sources, and where. */
function placesOf(sources: readonly Source[], form: RegExp): string {
  const counts = sources.map(({ path, text }) => [path, (text.match(form) ?? []).length] as const);
  const found = counts.filter(([, many]) => many > 0);
  const names = found.map(([path]) => `\`${path.slice(server.length + 1)}\``);
  return `${found.reduce((sum, [, many]) => sum + many, 0)} (${names.join(', ')})`;
}

function sourcesOfPackages(): Source[] {
  return readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' })
    .map((name) => `packages/${name.replaceAll('\\', '/')}`)
    .filter((path) => /\.tsx?$/.test(path) && !/\/(node_modules|dist)\//.test(path))
    .map((path) => parse(path, readFileSync(join(root, path), 'utf8')));
}
