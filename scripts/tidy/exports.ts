/**
 * A function, class or constant that no other file imports is not exported. Types may be: they name the shape of a
 * parameter. Entries of packages, tests and files that a tool reads give their exports to the outside.
 */
import { type Finding, isSyntax, isTest, nameOf, type Source, type Syntax } from './source.ts';
import { entries, resolve, type Workspace } from './workspace.ts';

const everything = '*';

export function unusedExports(workspace: Workspace): Finding[] {
  const used = new Map<string, Set<string>>();
  for (const source of workspace.sources) {
    for (const { from, name } of importsOf(source)) {
      const target = resolve(source.path, from, workspace);
      if (target === null) continue;
      const names = used.get(target) ?? new Set();
      used.set(target, names.add(name));
    }
  }
  const outside = entries(workspace);
  return workspace.sources
    .filter(
      ({ path }) => /^packages\/[^/]+\/src\//.test(path) && !isTest(path) && !outside.has(path),
    )
    .flatMap((source) => {
      const names = used.get(source.path) ?? new Set();
      if (names.has(everything)) return [];
      return exportsOf(source)
        .filter(({ name }) => !names.has(name))
        .map(({ name, line }) => {
          const says = `${name} is exported and no other file imports it: remove the export, or all of it`;
          return { path: source.path, line, says };
        });
    });
}

/** Names that other files are asked for, also by a dynamic import, which may take everything. */
function importsOf({ vertices }: Source): { from: string; name: string }[] {
  return vertices.flatMap(({ syntax }) => {
    const from = isSyntax(syntax['source']) ? syntax['source']['value'] : null;
    if (typeof from !== 'string') return [];
    const specifiers = listOf(syntax['specifiers']);
    if (specifiers.length === 0) return [{ from, name: everything }];
    return specifiers.map((specifier) => {
      const name = nameOf(specifier['imported'] ?? specifier['local']);
      const whole = specifier.type === 'ImportNamespaceSpecifier' || name === null;
      return { from, name: whole ? everything : name };
    });
  });
}

function exportsOf(source: Source): { name: string; line: number }[] {
  return source.vertices.flatMap(({ syntax }) => {
    if (syntax.type !== 'ExportNamedDeclaration' || !isSyntax(syntax['declaration'])) return [];
    const line = source.lineAt(syntax.start);
    return namesOf(syntax['declaration']).map((name) => ({ name, line }));
  });
}

function namesOf(declaration: Syntax): string[] {
  const declared =
    declaration.type === 'VariableDeclaration'
      ? listOf(declaration['declarations']).map((one) => nameOf(one['id']))
      : declaration.type === 'FunctionDeclaration' || declaration.type === 'ClassDeclaration'
        ? [nameOf(declaration['id'])]
        : [];
  return declared.filter((name) => name !== null);
}

function listOf(value: unknown): readonly Syntax[] {
  return Array.isArray(value) ? value.filter(isSyntax) : [];
}
