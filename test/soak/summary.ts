/** The result of a soak: its figures for people and for programs, and whether every promise was kept. */
import { latenessAt, type RecordedCall } from '../e2e/support/recorder.ts';
import type { Counts, Verdict } from './checker.ts';
import { type Growth, growthOf, type Reading } from './memory.ts';
import type { Sample } from './sampler.ts';
import { inSeconds, type Windows } from './windows.ts';

export interface Played {
  readonly minutes: number;
  readonly seed: number;
  readonly verdict: Verdict;
  /** Other failures, in sentences. */
  readonly failed: readonly string[];
  readonly faults: Readonly<Record<string, number>>;
  readonly skipped: readonly string[];
  readonly calls: readonly RecordedCall[];
  readonly windows: Windows;
  readonly samples: readonly Sample[];
}

export interface Memory {
  readonly member: string;
  readonly startBytes: number;
  readonly maxBytes: number;
  readonly endBytes: number;
  /** Of the process that lived longest. */
  readonly growth: Growth & { readonly seconds: number };
}

export interface Lateness {
  readonly callbacks: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Summary {
  readonly minutes: number;
  readonly seed: number;
  readonly kept: boolean;
  /** Which promises were broken, in sentences. */
  readonly broken: readonly string[];
  readonly counts: Counts;
  readonly faults: Readonly<Record<string, number>>;
  readonly skipped: readonly string[];
  /** By member: how long it had no processor. */
  readonly starvedMs: Readonly<Record<string, number>>;
  readonly lateness: { readonly quiet: Lateness; readonly fault: Lateness };
  readonly memory: readonly Memory[];
}

const mib = 2 ** 20;
/** Of pops that are called twice while nothing but processors is missing, however long the stalls are. */
export const repeatedShareMax = 0.001;
/** With a machine as busy as that the promises were hardly tried. */
const starvedShareMax = 0.2;

export function summarize(played: Played): Summary {
  const { minutes, seed, verdict, faults, skipped, windows, samples } = played;
  const members = [...new Set(samples.flatMap((sample) => Object.keys(sample.members)))].toSorted();
  const memory = members.map((member) => memoryOf(member, samples));
  const growing = memory.filter(({ growth }) => growth.verdict === 'growing');
  const broken = [
    ...verdict.broken,
    ...played.failed,
    ...growing.map(({ member, growth }) => {
      const rate = `${inMib(growth.bytesPerHour)} an hour`;
      return `P9: the memory of ${member} grows without bound: ${rate}, and no more slowly at the end.`;
    }),
  ];
  return {
    minutes,
    seed,
    kept: broken.length === 0,
    broken,
    counts: verdict.counts,
    faults,
    skipped,
    starvedMs: Object.fromEntries(
      members.map((name) => [name, Math.round(windows.starvedMs(name))]),
    ),
    lateness: latenessOf(played.calls, windows),
    memory,
  };
}

/** Of the first callback of each pop. */
export function latenessOf(calls: readonly RecordedCall[], windows: Windows): Summary['lateness'] {
  const seen = new Set<string>();
  const firsts = calls.filter(({ popId }) => !seen.has(popId) && seen.add(popId));
  const { quiet = [], fault = [] } = Object.groupBy(firsts, ({ startMs }) =>
    windows.isQuiet(startMs) ? 'quiet' : 'fault',
  );
  return { quiet: sharesOf(quiet), fault: sharesOf(fault) };
}

function sharesOf(calls: readonly RecordedCall[]): Lateness {
  const at = (share: number): number => latenessAt(calls, share);
  return { callbacks: calls.length, p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
}

export function memoryOf(member: string, samples: readonly Sample[]): Memory {
  const lives = new Map<number, Reading[]>();
  const bytes: number[] = [];
  for (const { second, members } of samples) {
    const own = members[member];
    if (own === undefined) continue;
    bytes.push(own.rssBytes);
    const life = lives.get(own.pid) ?? [];
    life.push({ second, bytes: own.rssBytes });
    lives.set(own.pid, life);
  }
  const [longest = []] = [...lives.values()].toSorted((a, b) => spanOf(b) - spanOf(a));
  return {
    member,
    startBytes: bytes[0] ?? 0,
    maxBytes: bytes.reduce((most, one) => Math.max(most, one), 0),
    endBytes: bytes.at(-1) ?? 0,
    growth: { ...growthOf(longest), seconds: spanOf(longest) },
  };
}

function spanOf(life: readonly Reading[]): number {
  return (life.at(-1)?.second ?? 0) - (life[0]?.second ?? 0);
}

export function asText(summary: Summary): string {
  const { minutes, seed, counts, faults, skipped, lateness, memory, broken } = summary;
  const { late, twice, revived, fewCopies } = counts;
  const given = Object.entries(faults).map(([kind, count]) => `${kind} ${count}`);
  return [
    `soak of ${minutes} minutes, seed ${seed}`,
    `  confirmed    ${counts.sets} sets, ${counts.cancels} cancels; ${fewCopies.broken} with too few copies in a whole cluster, ${fewCopies.excused} after a fault or change`,
    `  pops         ${counts.pops}, ${counts.lost} lost, ${counts.early} early`,
    `  late         ${late.broken} later than 2n; ${late.excused} more while every copy may have been away`,
    `  twice        ${twice.outside} without a fault to explain it, ${twice.inside} with`,
    `  cancelled    ${revived.broken} called all the same, ${revived.excused} by members at fault`,
    `  refused      ${counts.refused} requests without reason`,
    `  faults       ${given.join(', ')}`,
    ...skipped.map((reason) => `  skipped      ${reason}`),
    ...starvedLines(summary),
    `  lateness     quiet: ${latenessText(lateness.quiet)}`,
    `               under fault or change: ${latenessText(lateness.fault)}`,
    ...memory.map((one, i) => `  ${i === 0 ? 'memory ' : '       '}      ${memoryText(one)}`),
    broken.length === 0 ? 'Every promise was kept.' : `Broken: ${broken.length}`,
    ...broken.map((sentence) => `  ${sentence}`),
  ].join('\n');
}

function starvedLines({ starvedMs, minutes }: Summary): string[] {
  const given = Object.entries(starvedMs).map(([name, ms]) => `${name} ${inSeconds(ms)}`);
  if (given.length === 0) return [];
  const most = Math.max(...Object.values(starvedMs));
  const isVain = most > minutes * 60_000 * starvedShareMax;
  return [
    `  starved      ${given.join(', ')} without a processor; up to a second at a time explains nothing, more counts as a pause`,
    ...(isVain
      ? ['               That much says little about the members: give them a quieter machine.']
      : []),
  ];
}

function latenessText({ callbacks, p50Ms, p99Ms, maxMs }: Lateness): string {
  if (callbacks === 0) return 'no callbacks';
  return `p50 ${p50Ms} ms, p99 ${p99Ms} ms, max ${maxMs} ms of ${callbacks}`;
}

function memoryText({ member, startBytes, maxBytes, endBytes, growth }: Memory): string {
  const span = `${inMib(startBytes)} at the start, ${inMib(maxBytes)} at most, ${inMib(endBytes)} at the end`;
  const rate =
    growth.verdict === 'too short to tell' ? '' : `, ${inMib(growth.bytesPerHour)} an hour`;
  return `${member} ${span}; over ${growth.seconds} s of one process: ${growth.verdict}${rate}`;
}

function inMib(bytes: number): string {
  return `${Math.round(bytes / mib)} MiB`;
}
