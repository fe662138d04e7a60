/** Lines of the documents are short enough to be read side by side, and to show a change. */
import { lineLengthMax } from '../markdown/wrap-markdown.ts';
import type { Finding } from './source.ts';

/** Tables and code blocks are excepted, and lines without a blank to break at. */
export function longLines(path: string, text: string): Finding[] {
  const findings: Finding[] = [];
  let inFence = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trimStart().startsWith('```')) inFence = !inFence;
    if (inFence || line.length <= lineLengthMax || isExcepted(line.trim())) continue;
    const says = `a line has ${line.length} characters; break it before ${lineLengthMax}`;
    findings.push({ path, line: index + 1, says });
  }
  return findings;
}

function isExcepted(line: string): boolean {
  return line.startsWith('|') || !line.replace(/^(?:[-*]|\d+\.) /, '').includes(' ');
}
