/**
 * The source rules that neither the compiler nor the linter knows: sizes, ports, arrows between packages, dead files,
 * unused exports, unread options, words, dependencies. `npm run tidy` prints one line a finding, `file:line` with the
 * fault and the right form.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { architecturePage } from './reference/architecture.ts';
import { packageArrows } from './tidy/arrows.ts';
import { commentShare } from './tidy/comment-share.ts';
import { type LockFile, lockFile, manifests } from './tidy/dependencies.ts';
import { unusedExports } from './tidy/exports.ts';
import { globals } from './tidy/globals.ts';
import { deadFiles, valueCycles } from './tidy/graph.ts';
import { invariants } from './tidy/invariants.ts';
import { longComments, longLines } from './tidy/line-length.ts';
import { deadLinks } from './tidy/links.ts';
import { logLines } from './tidy/log-lines.ts';
import { unreadOptions } from './tidy/options.ts';
import { patterns } from './tidy/patterns/patterns.ts';
import { folderSize, roomArrows, rootOfServer, twoWayFolders } from './tidy/rooms.ts';
import { fileSize, functionSize, parameterCount } from './tidy/sizes.ts';
import { type Finding, parse, type Rule } from './tidy/source.ts';
import { bannedWords, exportStar, focusedTests, freeRelatives, leftovers } from './tidy/words.ts';
import type { Manifest, Package, Workspace } from './tidy/workspace.ts';

const fileRules: readonly Rule[] = [
  fileSize,
  functionSize,
  parameterCount,
  globals,
  bannedWords,
  leftovers,
  focusedTests,
  exportStar,
  logLines,
  invariants,
  patterns,
  longComments,
  commentShare,
];
const treeRules: readonly ((workspace: Workspace) => Finding[])[] = [
  packageArrows,
  roomArrows,
  rootOfServer,
  twoWayFolders,
  folderSize,
  valueCycles,
  deadFiles,
  unusedExports,
  unreadOptions,
  (workspace) => freeRelatives(workspace),
];

const root = join(import.meta.dirname, '..');
const skipped = new Set(['node_modules', 'dist', 'coverage', 'carillon-data']);

function main(): void {
  const startedMs = performance.now();
  const files = filesUnder(root);
  const sources = files
    .filter((path) => /\.(ts|tsx)$/.test(path))
    .map((path) => parse(path, read(path)));
  const workspace: Workspace = { sources, packages: packagesIn(files) };
  const findings = [
    ...sources.flatMap((source) => fileRules.flatMap((rule) => rule(source))),
    ...treeRules.flatMap((rule) => rule(workspace)),
    ...manifests(workspace.packages),
    ...lockFile(JSON.parse(read('package-lock.json')) as LockFile),
    ...files
      .filter((path) => path.endsWith('.md'))
      .flatMap((path) => documentFindings(path, read(path))),
    ...staleRooms(read('ARCHITECTURE.md')),
  ];
  for (const { path, line, says } of findings) console.error(`${path}:${line} ${says}`);
  const tookMs = Math.round(performance.now() - startedMs);
  console.log(`tidy: ${sources.length} sources, ${findings.length} findings, ${tookMs} ms`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}

function documentFindings(path: string, text: string): Finding[] {
  const linked = {
    exists: (target: string): boolean => existsSync(join(root, target)),
    page: (target: string): string | null => (target.endsWith('.md') ? read(target) : null),
  };
  return [...deadLinks(path, text, linked), ...longLines(path, text)];
}

/** The table and the graph of rooms on the page are the ones of the source. */
function staleRooms(page: string): Finding[] {
  if (page === architecturePage(page, {})) return [];
  const says = 'the rooms on the page differ from the source: npm run reference writes them';
  return [{ path: 'ARCHITECTURE.md', line: 1, says }];
}

function packagesIn(files: readonly string[]): Package[] {
  return files
    .filter((path) => /(^|\/)package\.json$/.test(path))
    .map((path) => ({
      folder: path.replace(/\/?package\.json$/, ''),
      manifest: JSON.parse(read(path)) as Manifest,
    }));
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** All files of the repository, from its root, with slashes; hidden folders and built files are left out. */
function filesUnder(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith('.') || skipped.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesUnder(path) : [relative(root, path).replaceAll('\\', '/')];
  });
}

main();
