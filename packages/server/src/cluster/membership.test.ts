import { VirtualClock } from '@carillon/core/testing';
import { expect, test } from 'vitest';
import { Membership } from './membership.ts';
import type { ViewMember } from './view/view.ts';

/** A membership with members whose labels are given, and the sentences that it warned with, by event. */
function warned(...labels: Readonly<Record<string, string>>[]): [string, string][] {
  const warnings: [string, string][] = [];
  const log = {
    debug() {},
    info() {},
    warn: (says: string, fields: Readonly<Record<string, unknown>> = {}) =>
      void warnings.push([String(fields['event']), says]),
    error() {},
  };
  const membership = new Membership({
    self: 'n0',
    clock: new VirtualClock(),
    log,
    factorDefault: 3,
    lastHello: () => null,
    onRefreshed: () => {},
    onLeaves: () => {},
  });
  const members = labels.map(
    (given, i): ViewMember => ({
      name: `n${i}`,
      address: `n${i}:7253`,
      peer: `n${i}:7353`,
      phase: 'active',
      weight: 1,
      labels: given,
    }),
  );
  membership.apply({ source: 'static', revision: 1, members });
  membership.apply({ source: 'static', revision: 2, members });
  return warnings;
}

test('a change of the view warns once of a label that looks misspelt', () => {
  const [slip, ...more] = warned({ zone: 'a' }, { zone: 'b' }, { zoen: 'c' });
  expect(slip?.[0]).toBe('label-slip');
  expect(slip?.[1]).toContain('n2 has the label "zoen" and no "zone", which 2 other members have');
  expect(more).toEqual([]);
});

test('a change of the view warns once of a member that distinct zones make hot', () => {
  const zones = ['a', 'b', 'b', 'b', 'c', 'c', 'c'].map((zone) => ({ zone }));
  expect(warned(...zones).map(([event]) => event)).toEqual(['member-hot']);
});
