/** Lines of documents and of comments are short enough to be read side by side, and to show a change. */
import { lineLengthMax } from '../markdown/wrap-markdown.ts';
import type { Finding, Source } from './source.ts';

/** Tables and code blocks are excepted, and lines without a blank to break at. */
export function longLines(path: string, text: string): Finding[] {
  const findings: Finding[] = [];
  let inFence = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trimStart().startsWith('```')) inFence = !inFence;
    if (inFence || line.length <= lineLengthMax || isExcepted(line.trim())) continue;
    findings.push(tooLong(path, index + 1, line));
  }
  return findings;
}

/** Lines without a blank to break at are excepted. Lines of code are left to the formatter. */
export function longComments({ path, text, comments }: Source): Finding[] {
  const lines = text.split('\n');
  return comments.flatMap(({ line: first, lineEnd }) =>
    lines.slice(first - 1, lineEnd).flatMap((line, i) => {
      const isFine = line.length <= lineLengthMax || !words(line).includes(' ');
      return isFine ? [] : [tooLong(path, first + i, line)];
    }),
  );
}

function tooLong(path: string, line: number, text: string): Finding {
  const says = `a line has ${text.length} characters; break it before ${lineLengthMax}`;
  return { path, line, says };
}

/** The line without the marks of a comment. */
function words(line: string): string {
  return line
    .replace('*/', '')
    .trim()
    .replace(/^(?:\/\*\*?|\*|\/\/) /, '');
}

function isExcepted(line: string): boolean {
  return line.startsWith('|') || !line.replace(/^(?:[-*]|\d+\.) /, '').includes(' ');
}
