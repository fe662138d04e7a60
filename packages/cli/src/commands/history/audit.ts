/** `carillon audit`: changes of timers, with the names of the tokens that asked for them. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditFilter, Carillon, HistoryChange } from '@carillon/client';
import { type Command, exit, type Io, UsageError } from '../../command.ts';
import { connect, connectOptions, connectUsage } from '../../member/connect.ts';
import { type OptionKinds, parseOptions, wholeNumber } from '../../options.ts';
import { jsonLine, table } from '../../terminal/style.ts';
import { missingWarning, newest } from './history.ts';
import { sinceOf } from './since.ts';

const actions = [
  'set',
  'replace',
  'cancel',
  'run',
  'give-up',
  'redeliver',
  'discard',
  'drop',
  'erase',
  'drain',
  'resync',
] as const;
/** Changes of one pop each, that come by the hundred. */
const popActions: ReadonlySet<string> = new Set(['give-up', 'drop', 'redeliver', 'discard']);
/** Changes that members make by themselves. */
const ownActions: ReadonlySet<string> = new Set(['give-up', 'drop']);
/** Changes of a namespace, or of a member, and of no single timer. */
const wholeActions: ReadonlySet<string> = new Set(['erase', 'drain', 'resync']);
const kinds = {
  ...connectOptions,
  since: 'text',
  actor: 'text',
  action: 'text',
  limit: 'text',
  follow: 'flag',
  'all-namespaces': 'flag',
} as const satisfies OptionKinds;
const pageLength = 1000;
const pollMs = 1000;
/** Clocks of members differ, and an entry is told after it was made: new ones are looked for this far back. */
const overlapMs = 15_000;

export const command: Command = {
  name: 'audit',
  summary: 'Changes of timers, with the tokens that asked for them.',
  usage: `Usage: carillon audit [flags]

Shows the changes that members keep, the oldest first. Timers that one request cancelled by tag are one line, and so are
neighbouring changes of dead letters; --action and --json show each of the latter.

  --since WHEN      Only changes since then: 2h or 3d ago, or an instant such as 2026-01-31T18:00:00Z
  --actor NAME      Only changes by the token of this name
  --action ACTION   Only changes of this kind: ${actions.slice(0, 9).join(', ')},
                    ${actions.slice(9).join(', ')}
  --limit N         The newest N changes; default 1000
  --follow          Go on, and show changes as they happen
  --all-namespaces  Changes in all namespaces; the token must be for all of them
${connectUsage}`,
  values: { '--action': actions },
  examples: ['carillon audit --action cancel --since 2h', 'carillon audit --follow'],
  run: async (args, io) => {
    const { flags, operands } = parseOptions(args, kinds);
    if (operands.length > 0) {
      throw new UsageError(`"${operands[0]}" is too much here; carillon history shows one timer.`);
    }
    if (flags.action !== undefined && !actions.some((name) => name === flags.action)) {
      throw new UsageError(`--action must be one of ${actions.join(', ')}.`);
    }
    const limit = wholeNumber('--limit', flags.limit ?? '1000', { min: 1, max: 1_000_000 });
    const { actor, action } = flags;
    const since = sinceOf(flags.since, Date.now());
    const filter = { actor, action, allNamespaces: flags['all-namespaces'] };
    const client = connect(flags, io);
    const audit = new Audit(client, io, filter, flags.json);
    const found = await audit.print(since, limit);
    if (found === 0 && !flags.follow && !flags.json) io.err('Members remember no such change.');
    if (flags.follow) await audit.follow();
    return exit.done;
  },
};

class Audit {
  private readonly client: Carillon;
  private readonly io: Io;
  private readonly filter: AuditFilter;
  private readonly asJson: boolean;
  private readonly onMissing: (members: readonly string[]) => void;
  /** Changes that were shown and may come again in the next answer, with their times. */
  private shown = new Map<string, number>();
  private newestMs = Date.now();
  private isTitled = false;

  constructor(client: Carillon, io: Io, filter: AuditFilter, asJson: boolean) {
    this.client = client;
    this.io = io;
    this.filter = filter;
    this.asJson = asJson;
    this.onMissing = missingWarning(io);
  }

  /** How many were new. */
  async print(since: Date | undefined, limit: number): Promise<number> {
    const { client, io, filter, onMissing } = this;
    const pageSize = Math.min(limit, pageLength);
    const asked = { ...filter, since, pageSize, signal: io.signal, onMissing };
    const found = (await newest(client.audit(asked), limit)).filter((entry) => this.isNew(entry));
    if (this.asJson) for (const entry of found) jsonLine(io, entry);
    else if (found.length > 0) io.out(this.text(groups(found, filter.action !== undefined)));
    this.isTitled ||= found.length > 0;
    return found.length;
  }

  /** Until the command is stopped. */
  async follow(): Promise<void> {
    const { io } = this;
    while (!io.signal.aborted) {
      try {
        await sleep(pollMs, undefined, { signal: io.signal });
        await this.print(new Date(this.newestMs - overlapMs), 1_000_000);
      } catch (error) {
        if (!io.signal.aborted) throw error;
      }
      for (const [key, ms] of this.shown) {
        if (ms < this.newestMs - 2 * overlapMs) this.shown.delete(key);
      }
    }
  }

  private isNew(entry: HistoryChange): boolean {
    const key = JSON.stringify(entry);
    if (this.shown.has(key)) return false;
    const ms = entry.at?.getTime() ?? 0;
    this.shown.set(key, ms);
    this.newestMs = Math.max(this.newestMs, ms);
    return true;
  }

  private text(all: readonly Group[]): string {
    const rows = all.map(({ first, count, members }) => [
      first.at?.toISOString() ?? '-',
      first.action,
      first.actor ?? '-',
      timerText(first, count),
      first.tag ?? '-',
      first.pop === null || count > 1 ? '-' : String(first.pop),
      ...(this.filter.allNamespaces === true ? [first.namespace] : []),
      members.join(', '),
    ]);
    const namespace = this.filter.allNamespaces === true ? ['NAMESPACE'] : [];
    const titles = ['AT', 'ACTION', 'ACTOR', 'TIMER', 'TAG', 'POP', ...namespace, 'MEMBER'];
    const text = table(this.io, titles, rows);
    return this.isTitled ? text.slice(text.indexOf('\n') + 1) : text;
  }
}

/** Changes that are about no timer have the number 0. */
function timerText({ timer, action }: HistoryChange, count: number): string {
  if (wholeActions.has(action)) return '-';
  if (count === 1) return timer;
  return popActions.has(action) ? `${count} pops` : `${count} timers`;
}

interface Group {
  readonly first: HistoryChange;
  count: number;
  readonly members: string[];
}

/** Neighbours that one request by tag made are one group, and so are changes of pops unless each is wanted. */
function groups(entries: readonly HistoryChange[], wantsEach: boolean): readonly Group[] {
  const found: Group[] = [];
  for (const entry of entries) {
    const last = found.at(-1);
    const isOfMany = entry.tag !== null || (popActions.has(entry.action) && !wantsEach);
    if (last !== undefined && isOfMany && keyOf(last.first) === keyOf(entry)) {
      last.count++;
      if (!last.members.includes(entry.member)) last.members.push(entry.member);
    } else found.push({ first: entry, count: 1, members: [entry.member] });
  }
  return found;
}

function keyOf({ action, actor, tag, member, namespace }: HistoryChange): string {
  if (ownActions.has(action)) return JSON.stringify([action, namespace]);
  return JSON.stringify([action, actor, tag, member, namespace]);
}
