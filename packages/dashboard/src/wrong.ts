/**
 * Findings about the cluster in sentences: the first thing a person at night wants to read. Pure: a snapshot in,
 * findings out.
 */
import { labelSlips } from '@carillon/core';
import { hotMembers, labelLevels } from '@carillon/placement';
import { count, counted, milliseconds } from './format.ts';
import { clusterFigures } from './parts/cluster/cluster-figures.ts';
import { placedMembers } from './parts/cluster/domains.ts';
import type { DamageShape, FindingShape, MemberShape, Snapshot } from './parts/shapes.ts';

/** bad: promises are at risk. warn: look at it by day. note: going on by itself. */
export type Weight = 'bad' | 'warn' | 'note';

export interface Finding {
  readonly weight: Weight;
  readonly says: string;
  /** Where in the dashboard to look further. */
  readonly link?: string;
}

const clockOffsetMsMax = 500;
const latenessMsMax = 1000;
/** A backup pops 2 s after the replica before it: the limits of lateness beside one silent member, and beside more. */
const oneBackupMsMax = 2500;
const moreBackupsMsMax = 10_000;
const lagMsMax = 500;
const order: readonly Weight[] = ['bad', 'warn', 'note'];

/**
 * Worst first. `lostMs`: for how long the page has heard nothing; null while it hears. `examined`: findings of the
 * doctor, of which the wrong ones that the snapshot does not tell are told too.
 */
export function findings(
  snapshot: Snapshot,
  lostMs: number | null,
  examined: readonly FindingShape[] = [],
): Finding[] {
  const found = [
    ...aboutConnection(snapshot, lostMs),
    ...examined
      .filter((one) => one.weight === 'wrong' && !isToldBy(snapshot, one))
      .map(({ says }): Finding => ({ weight: 'bad', says, link: '#/doctor' })),
    ...aboutMembers(snapshot),
    ...aboutDisks(snapshot),
    ...aboutCopies(snapshot),
    ...aboutShares(snapshot),
    ...aboutPops(snapshot),
  ];
  return found.toSorted((a, b) => order.indexOf(a.weight) - order.indexOf(b.weight));
}

function aboutConnection({ self, unready }: Snapshot, lostMs: number | null): Finding[] {
  const found: Finding[] = [];
  if (lostMs !== null) {
    const says = `${self} has not been heard for ${milliseconds(lostMs)}; the figures on this page are that old. Trying again.`;
    found.push({ weight: 'bad', says });
  }
  if (unready !== null)
    found.push({ weight: 'warn', says: `${self} takes no requests. ${unready}` });
  return found;
}

/** Whether the snapshot has the same finding of the doctor in other words. */
function isToldBy({ self, unready, cluster }: Snapshot, { id, member }: FindingShape): boolean {
  const about = cluster.members.find(({ name }) => name === member);
  if (id === 'copies-missing') return cluster.repair['under-replicated'] > 0;
  if (id === 'member-not-ready') return member === self && unready !== null;
  if (id === 'member-silent') return about?.reachable === false;
  if (id === 'disk-damaged') return about?.disk === 'lost';
  if (id === 'clock-off') return Math.abs(about?.['clock-offset-ms'] ?? 0) > clockOffsetMsMax;
  return false;
}

function aboutMembers({ cluster }: Snapshot): Finding[] {
  const found: Finding[] = [];
  const silent = cluster.members.filter(({ reachable }) => !reachable);
  if (silent.length > 0) {
    const one = silent.length === 1;
    found.push({
      weight: 'bad',
      says: `${names(silent)} ${one ? 'does' : 'do'} not answer. Other replicas pop ${one ? 'its' : 'their'} timers meanwhile, ${one ? 'up to 2 s' : 'a few seconds'} late.`,
      link: '#/topology',
    });
  }
  for (const member of cluster.members) {
    const offsetMs = member['clock-offset-ms'] ?? 0;
    if (member.reachable && Math.abs(offsetMs) > clockOffsetMsMax) {
      const way = offsetMs > 0 ? 'ahead' : 'behind';
      const says = `The clock of ${member.name} is ${milliseconds(Math.abs(offsetMs))} ${way}.`;
      found.push({ weight: 'warn', says });
    }
    if (member.phase === 'leaving' && member.reachable) {
      const says = `${member.name} is leaving; ${counted(member.timers ?? 0, 'timer')} still to hand on.`;
      found.push({ weight: 'note', says });
    }
    if (member.phase === 'joining') {
      const resyncs = cluster.source === 'static' && member.reachable;
      const says = `${member.name} is joining${resyncs ? '; resync towards it is under way' : ''}.`;
      found.push({ weight: 'note', says });
    }
  }
  return found;
}

function aboutDisks({ cluster: { members, damage } }: Snapshot): Finding[] {
  const found: Finding[] = [];
  for (const { name, disk, self } of members) {
    const figures = self && damage !== null ? ` ${damageFigures(damage)}` : '';
    if (disk === 'mending') {
      const says = `The disk of ${name} is damaged; its lost records are being fetched from other members.${figures}`;
      found.push({ weight: 'warn', says });
    } else if (disk === 'lost') {
      const says = `The disk of ${name} is damaged, and timers are gone: no other member has a copy of them.${figures}`;
      found.push({ weight: 'bad', says });
    } else if (disk === 'mended') {
      const says = `Damage on the disk of ${name} is mended; look at the disk.${figures}`;
      found.push({ weight: 'warn', says });
    }
  }
  return found;
}

function damageFigures(damage: DamageShape): string {
  const lost = `${damage['more-lost'] ? 'At least ' : ''}${counted(damage['entries-lost'], 'entry', 'entries')} lost`;
  const timers = damage['timers-lost'];
  const gone = timers === 0 || timers === null ? '' : ` Up to ${counted(timers, 'timer')} gone.`;
  return `${lost}, ${counted(damage['records-fetched'], 'record')} fetched.${gone}`;
}

function aboutCopies({ cluster: { resync, repair } }: Snapshot): Finding[] {
  const found: Finding[] = [];
  if (repair['under-replicated'] > 0) {
    const says = `${counted(repair['under-replicated'], 'timer')} not yet where the view wants them; repair is at it.`;
    found.push({ weight: 'warn', says });
  }
  if (repair['unconfirmed-records'] > 0) {
    const says = `${counted(repair['unconfirmed-records'], 'record')} wait for members that have not confirmed them.`;
    found.push({ weight: 'note', says });
  }
  if (resync.running) {
    const says = `A resync is running: ${count(resync.checked)} of ${count(resync.total)} records checked, ${count(resync.moved)} moved.`;
    found.push({ weight: 'note', says });
  }
  return found;
}

/** Nothing is wrong with the members, but their zones are uneven or their labels misspelt: a person can change that. */
function aboutShares({ cluster, factor }: Snapshot): Finding[] {
  const hot = hotMembers(placedMembers(cluster), factor).map(({ says }) => says);
  const slips = labelSlips(cluster.members, labelLevels);
  return [...hot, ...slips].map((says) => ({ weight: 'note', says, link: '#/topology' }));
}

function aboutPops({ cluster }: Snapshot): Finding[] {
  const found: Finding[] = [];
  const latestMs = lateByBackupsMs(cluster.members);
  for (const { name, load, reachable } of cluster.members) {
    if (!reachable || load === null) continue;
    const { 'lateness-p99-ms': lateMs, 'lag-ms': lagMs } = load;
    if (lateMs !== null && lateMs > Math.max(latenessMsMax, latestMs)) {
      const says = `Pops at ${name} are late: 1 in 100 by more than ${milliseconds(lateMs)}.`;
      found.push({ weight: 'warn', says });
    }
    if (lagMs !== null && lagMs > lagMsMax) {
      const says = `${name} is overloaded: its event loop came around ${milliseconds(lagMs)} late.`;
      found.push({ weight: 'warn', says });
    }
  }
  const { letters, retrying } = clusterFigures(cluster.members);
  if (letters > 0) {
    const says = `${counted(letters, 'dead letter')} to be read: pops that were given up.`;
    found.push({ weight: 'warn', says, link: '#/dead-letters' });
  }
  if (retrying > 0) {
    const says = `${counted(retrying, 'timer')} retrying: receivers that do not answer with 2xx.`;
    found.push({ weight: 'note', says, link: '#/timers?state=retrying' });
  }
  return found;
}

/** How late pops are that backups make in place of silent members, at most; 0: all members answer. */
function lateByBackupsMs(members: readonly MemberShape[]): number {
  const { length } = members.filter(({ reachable }) => !reachable);
  if (length === 0) return 0;
  return length === 1 ? oneBackupMsMax : moreBackupsMsMax;
}

function names(members: readonly MemberShape[]): string {
  const all = members.map(({ name }) => name);
  const last = all.pop() ?? '';
  return all.length === 0 ? last : `${all.join(', ')} and ${last}`;
}

/** The sentence when nothing is wrong. */
export function allWell({ cluster }: Snapshot): string {
  const { length } = cluster.members;
  if (length === 1) return 'All is well. One member, alone: its disk holds the only copy.';
  return `All is well. ${count(length)} members, all of them answering.`;
}
