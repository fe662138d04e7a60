/** Every option of a member does something: code outside of the configuration reads it. */
import { type Finding, isSyntax, isTest, nameOf, type Source } from './source.ts';
import type { Workspace } from './workspace.ts';

const table = /^packages\/server\/src\/config\/(config|options\/[^/]+)\.ts$/;
const readers = /^packages\/(server|cli)\/src\/(?!config\/)/;

export function unreadOptions({ sources }: Workspace): Finding[] {
  const read = new Set(
    sources.filter(({ path }) => readers.test(path) && !isTest(path)).flatMap(namesIn),
  );
  return sources
    .filter(({ path }) => table.test(path))
    .flatMap(optionsIn)
    .filter(({ name }) => !read.has(name))
    .map(({ path, name, line }) => {
      const says = `the option ${name} is read by no code outside of config/: use it or remove it`;
      return { path, line, says };
    });
}

/** Properties such as `logLevel: option(…)`. */
function optionsIn(source: Source): { path: string; name: string; line: number }[] {
  return source.vertices.flatMap(({ syntax }) => {
    const { key, value } = syntax;
    if (syntax.type !== 'Property' || !isSyntax(value) || !isSyntax(key)) return [];
    const name = nameOf(key);
    if (name === null || value.type !== 'CallExpression') return [];
    if (nameOf(value['callee']) !== 'option') return [];
    return [{ path: source.path, name, line: source.lineAt(key.start) }];
  });
}

/** Names that the file takes out of an object: `config.logLevel`, `const { logLevel } = config`. */
function namesIn({ vertices }: Source): string[] {
  return vertices.flatMap(({ syntax, parent }) => {
    const taken =
      syntax.type === 'MemberExpression'
        ? nameOf(syntax['property'])
        : syntax.type === 'Property' && parent?.type === 'ObjectPattern'
          ? nameOf(syntax['key'])
          : null;
    return taken === null ? [] : [taken];
  });
}
