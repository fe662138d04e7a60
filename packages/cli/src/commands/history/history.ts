/** `carillon history`: every attempt and change of a timer that members keep. */
import type { HistoryEntry } from '@carillon/client';
import { formatDuration } from '@carillon/core';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { type OptionKinds, parseOptions, wholeNumber } from '../../options.ts';
import { type Json, listJson } from '../../timers/api-timer.ts';
import { jsonLine, paintErr, shorten, table } from '../../terminal/style.ts';
import { sinceOf } from './since.ts';

const kinds = { ...connectOptions, since: 'text', limit: 'text' } as const satisfies OptionKinds;
const pageLength = 1000;

export const command: Command = {
  name: 'history',
  summary: 'Every attempt and change of a timer.',
  usage: `Usage: carillon history ID [flags]

Shows every attempt and change of the timer that members keep, the oldest first: also of a timer that has ended.

  --since WHEN     Only entries since then: 2h or 3d ago, or an instant such as 2026-01-31T18:00:00Z
  --limit N        The newest N entries; default 1000
${connectUsage}`,
  examples: ['carillon history 0d1e1d1ab8114001', 'carillon history 0d1e1d1ab8114001 --since 2h'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    const [id, extra] = operands;
    if (id === undefined || extra !== undefined) {
      throw new UsageError('Name one timer by its id, as in carillon history ID.');
    }
    const limit = wholeNumber('--limit', flags.limit ?? '1000', { min: 1, max: 1_000_000 });
    const since = sinceOf(flags.since, Date.now());
    const client = connect(flags, io);
    const onMissing = missingWarning(io);
    const pageSize = Math.min(limit, pageLength);
    if (flags.json) {
      const query = { since: since?.toISOString() };
      const path = `/timers/${encodeURIComponent(id)}/history`;
      const found = await newest(
        listJson(client, { path, items: 'entries', query, pageSize, onMissing }, io),
        limit,
      );
      for (const entry of found) jsonLine(io, entry satisfies Json);
      return exit.done;
    }
    const { signal } = io;
    const found = await newest(client.history(id, { since, pageSize, signal, onMissing }), limit);
    if (found.length === 0) io.err('Members remember nothing of this timer.');
    else io.out(historyText(found, io));
    return found.length === 0 ? exit.failed : exit.done;
  },
};

/** So many, the oldest first. */
export async function newest<T>(entries: AsyncIterable<T>, limit: number): Promise<T[]> {
  const found: T[] = [];
  for await (const entry of entries) {
    found.push(entry);
    if (found.length === limit) break;
  }
  return found.toReversed();
}

export function missingWarning(io: Io): (members: readonly string[]) => void {
  const told = new Set<string>();
  return (members) => {
    const names = members.filter((name) => !told.has(name));
    for (const name of names) told.add(name);
    if (names.length === 0) return;
    const text = `No answer from ${names.join(', ')}: entries may be missing.`;
    io.err(paintErr(io, 'yellow', text));
  };
}

function historyText(entries: readonly HistoryEntry[], io: Io): string {
  const rows = entries.map((entry) => {
    const at = entry.at?.toISOString() ?? '-';
    const pop = entry.pop === null ? '-' : String(entry.pop);
    if (entry.kind === 'change') {
      const by = entry.actor === null ? '' : `by ${entry.actor}`;
      const tag = entry.tag === null ? '' : `by tag ${entry.tag}`;
      return [at, entry.action, pop, '-', '-', entry.member, [by, tag].filter(Boolean).join(', ')];
    }
    const { attempt, status, latenessMs, tookMs, replica, detail } = entry;
    const member = replica === 0 ? entry.member : `${entry.member} (backup ${replica})`;
    const took = formatDuration(tookMs);
    const late = formatDuration(latenessMs);
    const did = attempt === 1 ? 'attempt' : `attempt ${attempt}`;
    const said = [String(status), shorten(detail, 100)].filter(Boolean).join(' ');
    return [at, did, pop, late, took, member, said];
  });
  return table(io, ['AT', 'WHAT', 'POP', 'LATENESS', 'TOOK', 'MEMBER', 'DETAIL'], rows);
}
