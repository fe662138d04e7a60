/**
 * How much of a file is comments. The core files hold the rules that everything else rests on, so a quarter of their
 * lines explain them, with a worked example in the header. More than 45 % hide the code, there and elsewhere.
 *
 * Example: `merge.ts` has 87 lines, and 30 of them are comments alone: 34 %.
 */
import { type Finding, isTest, type Source } from './source.ts';

const shareMin = 0.25;
const shareMax = 0.45;
/** A file this short is a header and a constant. */
const shortLineCount = 20;

const coreFiles = new Set([
  'packages/server/src/store/wheel.ts',
  'packages/server/src/store/store.ts',
  'packages/server/src/store/journal/journal.ts',
  'packages/server/src/timer/merge.ts',
  'packages/server/src/pop/claims/claims.ts',
  'packages/server/src/pop/popper.ts',
  'packages/server/src/cluster/resync.ts',
  'packages/server/src/cluster/doubt.ts',
  'packages/ring/src/slots/slots.ts',
]);

export function commentShare(source: Source): Finding[] {
  const { path, lineCount } = source;
  if (!/^packages\/[^/]+\/src\//.test(path) || isTest(path)) return [];
  const count = commentLineCount(source);
  const told = `${count} of ${lineCount} lines are comments`;
  const find = (says: string): Finding[] => [{ path, line: 1, says: `${told}${says}` }];
  if (coreFiles.has(path) && count < shareMin * lineCount) {
    return find(': a core file has a quarter, for reasons and worked examples');
  }
  if (lineCount > shortLineCount && count > shareMax * lineCount) {
    return find(', more than 45 %: keep the reasons, and leave out words that repeat the code');
  }
  return [];
}

/** Lines that hold nothing but a comment. */
function commentLineCount({ text, comments }: Source): number {
  const lines = text.split('\n');
  return comments
    .filter(({ line }) => /^\s*\/[/*]/.test(lines[line - 1] as string))
    .reduce((sum, { line, lineEnd }) => sum + lineEnd - line + 1, 0);
}
