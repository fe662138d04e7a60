/** Rules over the whole import graph: it has no cycles, and every file in it is reached from an entry. */
import type { Finding } from './source.ts';
import { entries, resolve, type Workspace } from './workspace.ts';

/** Edges that exist when the program runs; `import type` creates none. */
export function valueCycles(workspace: Workspace): Finding[] {
  const edges = edgesOf(workspace, false);
  const done = new Set<string>();
  const findings: Finding[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const seenAt = trail.indexOf(path);
    if (seenAt !== -1) {
      const cycle = [...trail.slice(seenAt), path].join(' → ');
      const says = `value imports run in a circle, ${cycle}: move the part that both need to a third file`;
      findings.push({ path, line: 1, says });
      return;
    }
    if (done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const { path } of workspace.sources) visit(path, []);
  return findings;
}

/** A source that neither an entry nor a test reaches is dead, however well it compiles. */
export function deadFiles(workspace: Workspace): Finding[] {
  const edges = edgesOf(workspace, true);
  const named = namedFiles(workspace);
  const starts = entries(workspace);
  const reached = new Set<string>();
  const reach = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const next of edges.get(path) ?? []) reach(next);
    for (const next of named.get(path) ?? []) reach(next);
  };
  for (const { path } of workspace.sources) {
    if (starts.has(path) || isRoot(path)) reach(path);
  }
  return workspace.sources
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => ({
      path,
      line: 1,
      says: 'no entry and no test imports this file: use it or remove it',
    }));
}

/** Run by a tool or by hand, not imported. */
function isRoot(path: string): boolean {
  return (
    /\.test\.tsx?$/.test(path) ||
    /(^|\/)[\w-]+\.config\.ts$/.test(path) ||
    /^(packages\/[^/]+\/)?(scripts|examples|bench)\/[^/]+\.ts$/.test(path) ||
    path.endsWith('.d.ts')
  );
}

function edgesOf(workspace: Workspace, withTypes: boolean): Map<string, string[]> {
  const edges = new Map<string, string[]>();
  for (const { path, imports } of workspace.sources) {
    const targets = imports
      .filter(({ typeOnly }) => withTypes || !typeOnly)
      .map(({ from }) => resolve(path, from, workspace))
      .filter((target) => target !== null);
    edges.set(path, targets);
  }
  return edges;
}

/** Files that a source starts as a process or a worker: it names them in a text instead of importing them. */
function namedFiles({ sources }: Workspace): Map<string, string[]> {
  const paths = sources.map(({ path }) => path);
  const named = new Map<string, string[]>();
  for (const { path, vertices } of sources) {
    const texts = vertices
      .map(({ syntax }) => (syntax.type === 'Literal' ? syntax['value'] : null))
      .filter((value): value is string => typeof value === 'string' && /^[\w./-]+\.ts$/.test(value))
      .map((text) => `/${text.replace(/^(\.\.?\/)+/, '')}`);
    const targets = paths.filter((other) => texts.some((text) => other.endsWith(text)));
    named.set(path, targets);
  }
  return named;
}
