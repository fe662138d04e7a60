import { expect, test } from 'vitest';
import { labelSlips } from './label-slips.ts';

const levels = ['region', 'zone', 'rack'];
const member = (name: string, ...labels: string[]) => ({
  name,
  labels: Object.fromEntries(labels.map((label) => [label, 'a'])),
});

test('one member with a near word of the others is told, with the word that was meant', () => {
  const members = [member('n0', 'zone'), member('n1', 'zone'), member('n2', 'zoen')];
  expect(labelSlips(members, levels)).toEqual([
    'n2 has the label "zoen" and no "zone", which 2 other members have: a slip? Placement reads region, zone, rack and no other label.',
  ]);
});

test('a word near a level is told too where all members have it', () => {
  const members = ['a', 'b', 'c', 'd', 'e'].map((name) => member(name, 'Zone'));
  expect(labelSlips(members, levels)).toEqual([
    'a, b, c and 2 more have the label "Zone" and no "zone": a slip? Placement reads region, zone, rack and no other label.',
  ]);
});

test('other labels are compared among themselves: the rarer one is the slip', () => {
  const members = [member('n0', 'owner'), member('n1', 'owner'), member('n2', 'onwer')];
  expect(labelSlips(members, levels)).toEqual([
    'n2 has the label "onwer" and no "owner", which 2 other members have: a slip?',
  ]);
});

test.each([
  ['no labels', [{ name: 'n0' }, member('n1')]],
  ['levels only', [member('n0', 'zone'), member('n1', 'rack')]],
  ['other words', [member('n0', 'zone', 'node', 'owner'), member('n1', 'zone', 'disk')]],
  ['both words at one member', [member('n0', 'zone', 'zones'), member('n1', 'zone')]],
  ['two words, equally common', [member('n0', 'team1'), member('n1', 'team2')]],
])('nothing is told of %s', (_, members) => {
  expect(labelSlips(members, levels)).toEqual([]);
});

test('ten thousand different names, some of them very long, take no long time and few sentences', () => {
  const members = Array.from({ length: 1000 }, (_, i) =>
    member(`n${i}`, ...Array.from({ length: 10 }, (__, j) => `label-${i}-${j}`), 'x'.repeat(1e5)),
  );
  const startUs = process.cpuUsage().user;
  expect(labelSlips([...members, member('m', 'zoen')], levels)).toHaveLength(1);
  expect(process.cpuUsage().user - startUs).toBeLessThan(3e6);
});
