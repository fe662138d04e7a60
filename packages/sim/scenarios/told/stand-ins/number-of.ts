/** Numbers of timers that the members rank in a wanted order. */
import { View } from '@carillon/server/internal';
import { viewMember } from '../../../src/world/views.ts';

/** The first number from `from` on of which these members, all of the view, come in this order. */
export function numberOf(order: readonly string[], from: number): string {
  const members = order.map((name) => viewMember(name));
  const view = new View({ source: 'test', revision: 1, members });
  let lo = from;
  while (view.place(0, lo, order.length).join() !== order.join()) lo++;
  return lo.toString(16).padStart(16, '0');
}
