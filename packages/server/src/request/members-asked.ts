/** The members that a question to the whole cluster goes to. */
import type { View } from '../cluster/view/view.ts';
import type { Peers } from '../replication/peers.ts';

export interface MembersAskedParts {
  readonly self: string;
  readonly peers: Pick<Peers, 'silent'> | null;
  readonly view: () => View;
}

/** All members of the view, this one in any case, and vanished ones that were not found silent since. */
export function membersAsked({ self, view, peers }: MembersAskedParts): readonly string[] {
  const { members, vanished } = view();
  const running = vanished.filter(({ name }) => !(peers?.silent(name) ?? false));
  return [...new Set([self, ...[...members, ...running].map(({ name }) => name)])];
}

/** Without vanished members: they are asked in case they run on, and mostly they do not. */
export function membersOf(
  { view }: MembersAskedParts,
  names: readonly string[],
): readonly string[] {
  const now = view();
  return names.filter((name) => now.member(name) !== undefined);
}
