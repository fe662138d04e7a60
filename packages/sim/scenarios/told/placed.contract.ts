/** Looks at where copies of timers are. */
import { View } from '@carillon/server/internal';
import { expect } from 'vitest';
import type { Story } from '../../src/story.ts';
import { viewMember } from '../../src/world/views.ts';

/** Each timer is where a cluster of these members places it, and nowhere else. */
export function expectPlaced(story: Story, ids: readonly string[], names: readonly string[]): void {
  const members = names.map((name) => viewMember(name));
  const view = new View({ source: 'test', revision: 1, members });
  for (const id of ids) {
    const hi = Number.parseInt(id.slice(0, 8), 16);
    const lo = Number.parseInt(id.slice(8, 16), 16);
    expect(story.holders(id).toSorted(), id).toEqual(view.place(hi, lo, 2).toSorted());
  }
}
