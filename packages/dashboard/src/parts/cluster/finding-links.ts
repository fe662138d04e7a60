/** Pages of the dashboard that show the things a finding is about. */
import type { FindingShape } from '../shapes.ts';
import { addressOf, noFilter } from '../timers/timer-filter.ts';

export interface FindingLink {
  readonly title: string;
  readonly to: string;
}

export function linksOf({ id, member, receiver }: FindingShape): readonly FindingLink[] {
  if (receiver !== undefined) {
    return [
      { title: 'Its timers', to: addressOf({ ...noFilter, search: receiver }) },
      { title: 'Its dead letters', to: `#/dead-letters?${new URLSearchParams({ receiver })}` },
    ];
  }
  if (id === 'dead-letters') return [{ title: 'The dead letters', to: '#/dead-letters' }];
  if (member === null) return [];
  return [{ title: `Member ${member}`, to: `#/topology/${encodeURIComponent(member)}` }];
}
