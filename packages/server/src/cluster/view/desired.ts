/**
 * The members that should hold a timer, and the others that may. The view alone names the replicas; a replica that has
 * been silent for long gets a stand-in, listed after the others, so that the timer has its copies meanwhile.
 */
import type { TimerRecord } from '@carillon/core';
import type { View } from './view.ts';

/** So many of the replicas may have been away at once. */
const awayCountMax = 3;
/**
 * In clusters of up to this many members with labels, all of them are asked: in a view without some members, a copy may
 * go to any other one of the same zone.
 */
const askedCountMax = 16;

/** The replicas the view asks for, then one stand-in for each of them that `absent` says is not there. */
export function desiredReplicas(
  view: View,
  number: { readonly hi: number; readonly lo: number },
  factor: number,
  absent: (name: string) => boolean,
): readonly string[] {
  const { hi, lo } = number;
  const ideal = view.place(hi, lo, factor);
  const missing = ideal.filter(absent).length;
  if (missing === 0) return ideal;
  const standIns = view
    .place(hi, lo, view.activeCount)
    .filter((name) => !ideal.includes(name) && !absent(name))
    .slice(0, missing);
  return standIns.length === 0 ? ideal : [...ideal, ...standIns];
}

/**
 * Members that may have come to hold a record besides its replicas. The next in rank stood in for replicas that were
 * silent. The last in rank are given it in a view without the replicas, because the primary is chosen from that end.
 * Members that hand their records on may be in the middle of a pop, and members that join may have restarted just after
 * one. With labels a smaller view has other ranks than this one.
 */
export function possibleHolders(
  view: View,
  { hi, lo, factor }: Pick<TimerRecord, 'hi' | 'lo' | 'factor'>,
): readonly string[] {
  const moving = [...view.namesIn('leaving'), ...view.namesIn('joining')];
  if (view.hasLabels && view.activeCount <= askedCountMax) {
    return [...view.namesIn('active'), ...moving];
  }
  const ideal = view.place(hi, lo, factor);
  const others = view.place(hi, lo, view.activeCount).filter((name) => !ideal.includes(name));
  const next = others.slice(0, awayCountMax);
  const last = others.slice(next.length).slice(-awayCountMax);
  return [...ideal, ...next, ...last, ...moving];
}

/**
 * The other members that hold a record or should, in the order of its list. `widely`: with all possible holders.
 * Members that leave and find no member to take their records keep them, and may not be in each other's lists: they ask
 * and tell one another.
 */
export function otherHolders(
  view: View,
  record: TimerRecord,
  self: string,
  widely: boolean,
): readonly string[] {
  const names = record.replicas.filter((name) => name !== self && view.isKnown(name));
  const { hi, lo, factor } = record;
  const leaving = view.namesIn('leaving');
  const wanted = view.place(hi, lo, factor);
  const usual = leaving.includes(self) ? [...wanted, ...leaving] : wanted;
  for (const name of widely ? possibleHolders(view, record) : usual) {
    if (name !== self && !names.includes(name)) names.push(name);
  }
  return names;
}
