/**
 * Findings that `cluster status` puts first: findings of the members' own view, and wrong ones of the doctor. Where the
 * doctor may not be asked (a token for one namespace, a member of an earlier release), readiness stands in for it.
 */
import { ApiError, type Carillon, type Cluster, UnreachableError } from '@carillon/client';
import type { Io } from '../command.ts';
import { arrayOf, getJson, isJson, type Json, textOf } from '../timers/api-timer.ts';
import { type ConnectFlags, serversOf } from './connect.ts';

const clockOffsetMsMax = 1000;
/** A member that takes longer is not waited for. */
const askMsMax = 2000;

/** A finding under the id that the doctor has for its kind. */
export interface Worry {
  readonly id: string;
  /** Names; empty: the finding is about the whole cluster. */
  readonly members: readonly string[];
  readonly says: string;
}

/** A sentence for each finding; the doctor's come last, without findings that the view tells already. */
export async function worriesOf(
  cluster: Cluster,
  client: Carillon,
  flags: ConnectFlags,
  io: Io,
): Promise<string[]> {
  const seen = seenIn(cluster);
  const found = (await wrongFindings(client, io)) ?? (await unready(flags, io));
  return [...seen, ...notSeen(found, seen)].map(({ says }) => says);
}

/** Pure: findings that nothing in `seen` tells already. */
function notSeen(found: readonly Worry[], seen: readonly Worry[]): Worry[] {
  return found.filter(
    ({ id, members }) =>
      !seen.some(
        (known) => known.id === id && members.every((name) => known.members.includes(name)),
      ),
  );
}

/** Pure: findings in the view of the member that was asked. */
function seenIn({ members: all, repair }: Cluster): Worry[] {
  const silent = all.filter(({ reachable, self }) => !reachable && !self).map(({ name }) => name);
  const drifting = all.filter(
    ({ clockOffsetMs }) => Math.abs(clockOffsetMs ?? 0) > clockOffsetMsMax,
  );
  const found: Worry[] = [];
  if (silent.length > 0)
    found.push({
      id: 'member-silent',
      members: silent,
      says: `No word from ${silent.join(', ')}.`,
    });
  for (const { name, clockOffsetMs } of drifting) {
    const says = `The clock of ${name} is off by ${Math.round(clockOffsetMs ?? 0)} ms.`;
    found.push({ id: 'clock-off', members: [name], says });
  }
  if (repair.underReplicated > 0)
    found.push({ id: 'copies-missing', members: [], says: copiesText(repair.underReplicated) });
  for (const { name, disk } of all) {
    const says = diskText(name, disk);
    if (says !== null) found.push({ id: 'disk-damaged', members: [name], says });
  }
  return found;
}

function copiesText(count: number): string {
  return count === 1
    ? '1 timer, which may have ended, is not known to be with all its members.'
    : `${count} timers, ended ones among them, are not known to be with all their members.`;
}

function diskText(name: string, disk: string | null): string | null {
  if (disk === 'mending')
    return `The disk of ${name} is damaged; its lost records are being fetched from other members.`;
  if (disk === 'lost')
    return `The disk of ${name} is damaged, and timers are gone: no other member has a copy of them.`;
  return null;
}

/** null: the doctor gives no answer to this token, or at this release. */
async function wrongFindings(client: Carillon, io: Io): Promise<Worry[] | null> {
  try {
    const answer = await getJson(client, { path: '/doctor', needs: 'findings' }, io);
    if (answer === null) return null;
    return arrayOf(answer, 'findings').filter(isJson).filter(isWrong).map(worryOf);
  } catch (error) {
    if (error instanceof ApiError || error instanceof UnreachableError) return null;
    throw error;
  }
}

function isWrong({ weight }: Json): boolean {
  return weight === 'wrong';
}

function worryOf(finding: Json): Worry {
  const member = textOf(finding['member']);
  const members = member === '' ? [] : [member];
  return { id: textOf(finding['id']), members, says: textOf(finding['says']) };
}

/** Members named on the command line that take no requests; `/readyz` needs no token. */
async function unready(flags: ConnectFlags, io: Io): Promise<Worry[]> {
  const found = await Promise.all(serversOf(flags, io).map((url) => unreadyAt(url, io)));
  return found.flat();
}

async function unreadyAt(url: string, io: Io): Promise<Worry[]> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(askMsMax)]);
  try {
    const answer = await fetch(`${url}/readyz`, { signal });
    if (answer.status !== 503) return [];
    const problem: unknown = await answer.json();
    const why = isJson(problem) ? textOf(problem['detail']) : '';
    const says = `The member at ${url} takes no requests: ${why}`.replace(/: $/, '.');
    return [{ id: 'member-not-ready', members: [url], says }];
  } catch (error) {
    if (io.signal.aborted) throw error;
    return [];
  }
}
