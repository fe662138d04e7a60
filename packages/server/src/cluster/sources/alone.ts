/** The view of a member that is the whole cluster: nothing to configure. */
import type { ViewSource } from './source.ts';
import type { ViewMember } from '../view/view.ts';

export function aloneSource(self: Pick<ViewMember, 'name' | 'address'>): ViewSource {
  const { name, address } = self;
  const member: ViewMember = { name, address, peer: '', phase: 'active', weight: 1, labels: {} };
  return {
    start: async (onView) => onView({ source: 'alone', revision: 1, members: [member] }),
    ready: async () => {},
    leave: async () => {},
    stop: async () => {},
  };
}
