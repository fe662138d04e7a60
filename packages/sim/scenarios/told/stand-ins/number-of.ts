/** Numbers of timers that the members rank in a wanted order. */
import { View } from '@carillon/server/internal';
import { viewMember } from '../../../src/world/views.ts';

function viewOf(names: readonly string[]): View {
  const members = names.map((name) => viewMember(name));
  return new View({ source: 'test', revision: 1, members });
}

export interface Move {
  readonly from: number;
  readonly members: readonly string[];
  /** The replica, which leaves, and its stand-in. */
  readonly before: readonly [string, string];
  /** The replica in the view without it. */
  readonly after: string;
}

/** The first number from `from` on that moves so when its replica leaves. */
export function numberThatMoves({ from, members, before, after }: Move): string {
  const [leaves] = before;
  const whole = viewOf(members);
  const rest = viewOf(members.filter((name) => name !== leaves));
  let lo = from;
  while (whole.place(0, lo, 2).join() !== before.join() || rest.place(0, lo, 1)[0] !== after) lo++;
  return hexOf(lo);
}

/** The first number from `from` on of which these members, all of the view, come in this order. */
export function numberOf(order: readonly string[], from: number): string {
  const view = viewOf(order);
  let lo = from;
  while (view.place(0, lo, order.length).join() !== order.join()) lo++;
  return hexOf(lo);
}

function hexOf(lo: number): string {
  return lo.toString(16).padStart(16, '0');
}
