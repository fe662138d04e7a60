/**
 * The parts of docs/security.md that `npm run soak -- --write` writes: a soak of all faults, and one of stalls alone
 * for each length.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  hasMarkedBlock,
  type Marks,
  table,
  withMarkedBlock,
} from '../../scripts/markdown/marked-block.ts';
import type { Counts } from './checker.ts';
import type { FaultName } from './faults.ts';
import { type Lateness, type Memory, repeatedShareMax, type Summary } from './summary.ts';
import { inSeconds } from './windows.ts';

export type Block = Marks;

const page = join(import.meta.dirname, '../../docs/security.md');
const by = 'npm run soak -- --write';
const count = new Intl.NumberFormat('en');
const mib = 2 ** 20;

/**
 * The block of a soak with these options; an error in a sentence, before anything ran, when the page has no place for
 * it.
 */
export function blockFor(only: FaultName | null, stallMsMax: number): Block | Error {
  const name = only === null ? 'soak' : `soak of ${only} members, ${stallMsMax} ms`;
  const block = { name, by };
  if (hasMarkedBlock(readFileSync(page, 'utf8'), block)) return block;
  return new Error(
    `docs/security.md has no place for this soak: --write wants no --only, or --only stalled with --stall 1000 or 5000.`,
  );
}

export function writeBlock(block: Block, summary: Summary): void {
  writeFileSync(page, withMarkedBlock(readFileSync(page, 'utf8'), block, asMarkdown(summary)));
}

/** The summary as a table: the findings of the run, and the limit where there is one. */
export function asMarkdown(summary: Summary): string[] {
  const { minutes, seed, counts, faults, skipped, lateness, memory, broken } = summary;
  const { late, twice, revived, fewCopies } = counts;
  const starved = Object.entries(summary.starvedMs).map(([name, ms]) => `${name} ${inSeconds(ms)}`);
  const given = Object.entries(faults).map(([kind, times]) => `${kind} ${times}`);
  const of = (many: number, what: string): string => `${count.format(many)} ${what}`;
  const rows = [
    ['run', `${minutes} minutes, seed ${seed}`, ''],
    ['faults', given.join(', '), ''],
    ['left out', skipped.join(' ') || 'nothing', ''],
    ['without a processor, in all', starved.join(', ') || 'not seen', ''],
    ['confirmed', `${of(counts.sets, 'sets')}, ${of(counts.cancels, 'cancels')}`, ''],
    ['callbacks', `${count.format(counts.callbacks)} of ${of(counts.pops, 'pops')}`, ''],
    ['lost', count.format(counts.lost), '0'],
    ['early', count.format(counts.early), '0'],
    ['later than 2n', excused(late.broken, late.excused, 'every copy may have been away'), '0'],
    ['twice', excused(twice.outside, twice.inside, 'a fault explains it'), '0'],
    ...stalledRow(summary),
    ['after a cancel', excused(revived.broken, revived.excused, 'a fault explains it'), '0'],
    ['too few copies', excused(fewCopies.broken, fewCopies.excused, 'after a fault'), '0'],
    ['requests refused without reason', count.format(counts.refused), '0'],
    ['lateness without a fault', latenessText(lateness.quiet), ''],
    ['lateness under a fault', latenessText(lateness.fault), ''],
    ...memory.map((one) => [`memory of ${one.member}`, memoryText(one), 'level']),
    ['promises', broken.length === 0 ? 'every one kept' : `**broken:** ${broken.join(' ')}`, ''],
  ];
  return table(
    ['', 'found', 'limit'],
    rows.map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|'))),
  );
}

/** Where nothing but processors were missing, long stalls explain a second callback, and still few may come. */
function stalledRow({ faults, counts }: Summary): string[][] {
  if (Object.keys(faults).join() !== 'stalled') return [];
  const share = `${percentOf(counts)} of pops`;
  return [['twice, with the ones after long stalls', share, `${repeatedShareMax * 100} % of pops`]];
}

function percentOf({ twice, pops }: Counts): string {
  const share = (twice.outside + twice.inside) / Math.max(1, pops);
  return `${(share * 100).toFixed(3)} %`;
}

function excused(broken: number, explained: number, where: string): string {
  const more = explained > 0 ? `; ${count.format(explained)} more where ${where}` : '';
  return `${count.format(broken)}${more}`;
}

function latenessText({ callbacks, p50Ms, p99Ms, maxMs }: Lateness): string {
  if (callbacks === 0) return 'no callbacks';
  return `p50 ${p50Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms of ${count.format(callbacks)}`;
}

function memoryText({ startBytes, maxBytes, endBytes, growth }: Memory): string {
  const [start, most, end] = [startBytes, maxBytes, endBytes].map((bytes) =>
    Math.round(bytes / mib),
  );
  return `${start} MiB at the start, ${most} at most, ${end} at the end; ${growth.verdict}`;
}
