/** Links between the documents lead somewhere. */
import { posix } from 'node:path';
import type { Finding } from './source.ts';

export interface LinkedFiles {
  /** Both are asked with paths from the repository's root. */
  exists(path: string): boolean;
  /** The text of a page; null: it is no page. */
  page(path: string): string | null;
}

export function deadLinks(path: string, text: string, files: LinkedFiles): Finding[] {
  const findings: Finding[] = [];
  let inFence = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trimStart().startsWith('```')) inFence = !inFence;
    if (inFence) continue;
    for (const [, target] of line.matchAll(/\]\(([^)\s]+)\)/g)) {
      const [file = '', anchor] = (target as string).split('#');
      if (/^[a-z]+:/.test(file)) continue;
      const found = file === '' ? path : posix.normalize(posix.join(posix.dirname(path), file));
      if (leadsSomewhere(found, anchor, { ...files, own: { path, text } })) continue;
      findings.push({
        path,
        line: index + 1,
        says: `the link to ${target} leads nowhere: name a file, and a heading of it, that are there`,
      });
    }
  }
  return findings;
}

interface Asked extends LinkedFiles {
  readonly own: { readonly path: string; readonly text: string };
}

function leadsSomewhere(path: string, anchor: string | undefined, asked: Asked): boolean {
  const { own } = asked;
  if (path !== own.path && !asked.exists(path)) return false;
  if (anchor === undefined) return true;
  const text = path === own.path ? own.text : asked.page(path);
  return text === null || anchorsOf(text).has(anchor);
}

/** The anchors that headings get: lower case, without punctuation, blanks as dashes, a number for a repeated one. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  const outside = text.replaceAll(/^```.*?^```/gms, '');
  for (const [, heading = ''] of outside.matchAll(/^#{1,6} (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const slug = plain.replaceAll(/[^\p{L}\p{N}\- _]/gu, '').replaceAll(' ', '-');
    for (let i = 0; ; i++) {
      const anchor = i === 0 ? slug : `${slug}-${i}`;
      if (anchors.has(anchor)) continue;
      anchors.add(anchor);
      break;
    }
  }
  return anchors;
}
