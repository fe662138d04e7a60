/**
 * One site from README.md, docs/ and the types of the packages: VitePress and TypeDoc, at exact versions in a folder of
 * their own below `.cache/`, because TypeDoc needs another TypeScript than the repository. A link that leads nowhere
 * fails the build.
 */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { buildPackages } from '../release/build.ts';
import { origin } from '../release/stage.ts';
import { sidebar, sitePage, titleOf } from './pages.ts';

const root = join(import.meta.dirname, '../..');
const tools = join(root, '.cache/site-tools');
const source = join(root, '.cache/site');
const packages = [
  'vitepress@1.6.4',
  'typedoc@0.28.20',
  'typedoc-plugin-markdown@4.14.1',
  'typescript@5.9.3',
];
/** Packages with an API for programs, each with a page of types. */
const documented = ['client', 'placement', 'ring', 'server'];

/** Builds the site into a folder. Rejects with the words of the tool that found something wrong. */
export async function buildSite(target: string): Promise<void> {
  installTools();
  await buildPackages();
  rmSync(source, { recursive: true, force: true });
  mkdirSync(join(source, '.vitepress'), { recursive: true });
  symlinkSync(join(tools, 'node_modules'), join(source, 'node_modules'));
  copyPages();
  writeReference();
  writeConfig();
  run(join(tools, 'node_modules/.bin/vitepress'), ['build', source, '--outDir', target]);
}

function installTools(): void {
  const wanted = JSON.stringify({ private: true, packages });
  const manifest = join(tools, 'package.json');
  if (existsSync(manifest) && readFileSync(manifest, 'utf8').includes(wanted.slice(1, -1))) return;
  rmSync(tools, { recursive: true, force: true });
  mkdirSync(tools, { recursive: true });
  writeFileSync(manifest, JSON.stringify({ private: true }));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags, ...packages], { cwd: tools, stdio: 'pipe' });
  // Written last: a cut install is begun again.
  writeFileSync(manifest, wanted);
}

function copyPages(): void {
  const { homepage } = origin();
  const pages = globSync('docs/**/*.md', { cwd: root });
  for (const page of ['README.md', ...pages]) {
    const to = page === 'README.md' ? 'index.md' : page.slice('docs/'.length);
    const text = sitePage(readFileSync(join(root, page), 'utf8'), page, homepage);
    mkdirSync(dirname(join(source, to)), { recursive: true });
    writeFileSync(join(source, to), text);
  }
  cpSync(join(root, 'docs/images'), join(source, 'images'), { recursive: true });
}

/** All packages in one process: loading the compiler takes as long as a package does. */
function writeReference(): void {
  const options = join(source, 'pages-of-types.json');
  writeFileSync(options, JSON.stringify(documented.map(typedocOptions)));
  run(join(import.meta.dirname, 'types.ts'), [join(tools, 'package.json'), options]);
}

/** Options of TypeDoc for a package, whose page of types is made from its declarations. */
function typedocOptions(name: string): object {
  const folder = join(root, 'packages', name);
  const config = join(source, `typedoc-${name}.json`);
  const compilerOptions = {
    module: 'NodeNext',
    target: 'ES2024',
    lib: ['ES2024', 'DOM', 'ESNext.Disposable'],
    skipLibCheck: true,
    noEmit: true,
    typeRoots: [join(root, 'node_modules/@types')],
    types: ['node'],
  };
  writeFileSync(
    config,
    JSON.stringify({ compilerOptions, files: [join(folder, 'dist/index.d.ts')] }),
  );
  return {
    plugin: ['typedoc-plugin-markdown'],
    tsconfig: config,
    entryPoints: [join(folder, 'dist/index.d.ts')],
    out: join(source, 'reference', name),
    name: `@carillon/${name}`,
    readme: 'none',
    outputFileStrategy: 'modules',
    entryFileName: 'index',
    disableSources: true,
    hideGenerator: true,
    logLevel: 'Error',
  };
}

function writeConfig(): void {
  const names = globSync('docs/*.md', { cwd: root }).map((page) => page.slice(5, -3));
  const titles = new Map(
    names
      .toSorted()
      .map((name) => [name, titleOf(readFileSync(join(root, 'docs', `${name}.md`), 'utf8'))]),
  );
  const types = documented.map((name) => ({
    text: `@carillon/${name}`,
    link: `/reference/${name}/`,
  }));
  const config = {
    title: 'Carillon',
    description: 'Timers as a service of your own; placement; locks.',
    cleanUrls: true,
    lastUpdated: false,
    themeConfig: {
      search: { provider: 'local' },
      sidebar: [...sidebar(titles), { text: 'Types', items: types }],
      outline: [2, 3],
    },
  };
  writeFileSync(
    join(source, '.vitepress/config.mjs'),
    `export default ${JSON.stringify(config, null, 2)};\n`,
  );
}

/** Runs a program; throws with its output. */
function run(program: string, given: readonly string[]): void {
  try {
    execFileSync(process.execPath, [program, ...given], {
      cwd: source,
      stdio: 'pipe',
      encoding: 'utf8',
    });
  } catch (error) {
    const { stdout, stderr } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} failed:\n${stdout ?? ''}${stderr ?? ''}`, { cause: error });
  }
}
