/** Links between the documents lead somewhere. */
import { posix } from 'node:path';
import type { Finding } from './source.ts';

/** `exists` is asked with paths from the repository's root. */
export function deadLinks(
  path: string,
  text: string,
  exists: (path: string) => boolean,
): Finding[] {
  const findings: Finding[] = [];
  let inFence = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trimStart().startsWith('```')) inFence = !inFence;
    if (inFence) continue;
    for (const [, target] of line.matchAll(/\]\(([^)\s]+)\)/g)) {
      const file = (target as string).replace(/#.*$/, '');
      if (file === '' || /^[a-z]+:/.test(file)) continue;
      if (exists(posix.normalize(posix.join(posix.dirname(path), file)))) continue;
      findings.push({
        path,
        line: index + 1,
        says: `the link to ${target} leads nowhere: name a file that is there`,
      });
    }
  }
  return findings;
}
