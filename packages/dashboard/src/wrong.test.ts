import { expect, test } from 'vitest';
import type { LoadShape, MemberShape, Snapshot } from './parts/shapes.ts';
import { allWell, findings } from './wrong.ts';

function member(name: string, part: Partial<MemberShape> = {}): MemberShape {
  return {
    name,
    address: `${name}:7253`,
    phase: 'active',
    weight: 1,
    labels: {},
    self: name === 'n0',
    reachable: true,
    'clock-offset-ms': 0,
    timers: 10,
    primaries: 5,
    disk: 'whole',
    load: {
      'pops-per-second': 1,
      'lateness-p50-ms': 1,
      'lateness-p99-ms': 2,
      'lag-ms': 0,
    },
    'dead-letters': 0,
    retrying: 0,
    answers: {},
    ...part,
  };
}

const well: Snapshot = {
  self: 'n0',
  version: '1',
  factor: 2,
  unready: null,
  cluster: {
    revision: 1,
    source: 'static',
    members: [member('n0'), member('n1'), member('n2')],
    resync: { running: false, checked: 0, total: 0, moved: 0 },
    repair: { 'unconfirmed-records': 0, 'under-replicated': 0 },
    damage: null,
  },
  callbacks: { 'in-flight': 0, queued: 0 },
  sample: {
    at: 0,
    delivered: 0,
    retried: 0,
    dead: 0,
    p50: 1,
    p99: 2,
    lag: 0,
    all: { pops: 1, retried: 0, dead: 0, p50: 1, p99: 2 },
  },
};

const withMembers = (...members: MemberShape[]): Snapshot => ({
  ...well,
  cluster: { ...well.cluster, members },
});

/** A snapshot in which another member reports this load. */
function loaded(part: Partial<LoadShape>): Snapshot {
  const { load } = member('n1');
  if (load === null) throw new Error('A member has a load here.');
  return withMembers(member('n0'), member('n1', { load: { ...load, ...part } }), member('n2'));
}

test('nothing is found where nothing is wrong', () => {
  expect(findings(well, null)).toEqual([]);
  expect(allWell(well)).toBe('All is well. 3 members, all of them answering.');
  expect(allWell(withMembers(member('n0')))).toContain('alone');
});

test('members that do not answer come first, all in one sentence', () => {
  const now = withMembers(
    member('n0', { 'clock-offset-ms': 900 }),
    member('n1', { reachable: false }),
    member('n2', { reachable: false, 'clock-offset-ms': 9000 }),
  );
  const [first, second, ...rest] = findings(now, null);
  expect(first).toMatchObject({ weight: 'bad', link: '#/topology' });
  expect(first?.says).toBe(
    'n1 and n2 do not answer. Other replicas pop their timers meanwhile, a few seconds late.',
  );
  expect(second).toMatchObject({ weight: 'warn', says: 'The clock of n0 is 900 ms ahead.' });
  // The last known clock of a silent member means nothing.
  expect(rest).toEqual([]);
});

test('pops that backups make in place of a silent member make no member late; later ones do', () => {
  const says = (lateMs: number): string[] => {
    const { cluster } = loaded({ 'lateness-p99-ms': lateMs });
    const members = [...cluster.members, member('n3', { reachable: false })];
    return findings({ ...well, cluster: { ...cluster, members } }, null).map((one) => one.says);
  };
  const silent = 'n3 does not answer. Other replicas pop its timers meanwhile, up to 2 s late.';
  expect(says(2080)).toEqual([silent]);
  expect(says(3500)).toEqual([silent, 'Pops at n1 are late: 1 in 100 by more than 3.5 s.']);
});

test('a page that hears nothing says how old it is', () => {
  expect(findings(well, 5000)[0]?.says).toContain('n0 has not been heard for 5 s');
});

test.each([
  [{ unready: 'The disk is full.' }, 'warn', 'The disk is full.'],
  [
    withMembers(member('n0', { 'dead-letters': 1 }), member('n1', { 'dead-letters': 1 })),
    'warn',
    '2 dead letters to be read',
  ],
  [withMembers(member('n1', { retrying: 1 })), 'note', '1 timer retrying'],
  [loaded({ 'lateness-p99-ms': 1500 }), 'warn', 'Pops at n1 are late: 1 in 100 by more than 1.5 s'],
  [loaded({ 'lag-ms': 700 }), 'warn', 'n1 is overloaded: its event loop came around 700 ms late'],
])('%j is told', (part, weight, words) => {
  const [found, ...rest] = findings({ ...well, ...part }, null);
  expect(found?.weight).toBe(weight);
  expect(found?.says).toContain(words);
  expect(rest).toEqual([]);
});

test('findings of the doctor that are wrong are told, once', () => {
  const wrong = (id: string, about: string | null, says: string, weight = 'wrong') => ({
    id,
    weight,
    member: about,
    says,
    do: 'Do this.',
  });
  const now = {
    ...withMembers(member('n0'), member('n1', { reachable: false }), member('n2')),
    unready: 'The disk is full.',
  };
  const found = findings(now, null, [
    wrong('member-silent', 'n1', 'n1 is in the view and does not answer.'),
    wrong('member-not-ready', 'n0', 'n0 takes no requests: The disk is full.'),
    wrong('member-not-ready', 'n2', 'n2 takes no requests: The disk is full.'),
    wrong('disk-full', 'n2', 'The disk of n2 is full: new timers are refused there.'),
    wrong('disk-nearly-full', 'n0', 'The disk of n0 has 1 MiB of 40 MiB free.', 'look'),
  ]);
  expect(found.map(({ weight, says }) => `${weight}: ${says}`)).toEqual([
    'bad: n2 takes no requests: The disk is full.',
    'bad: The disk of n2 is full: new timers are refused there.',
    'bad: n1 does not answer. Other replicas pop its timers meanwhile, up to 2 s late.',
    'warn: n0 takes no requests. The disk is full.',
  ]);
  expect(found[0]?.link).toBe('#/doctor');
});

test('damaged disks are told, with the losses of the member that serves the page', () => {
  const members = [
    member('n0', { disk: 'mending' }),
    member('n1', { disk: 'lost' }),
    member('n2', { disk: 'mended' }),
  ];
  const damage = { 'entries-lost': 100, 'more-lost': true, 'timers-lost': 3, 'records-fetched': 7 };
  const found = findings({ ...well, cluster: { ...well.cluster, members, damage } }, null);
  expect(found.map(({ weight, says }) => `${weight}: ${says}`)).toEqual([
    'bad: The disk of n1 is damaged, and timers are gone: no other member has a copy of them.',
    'warn: The disk of n0 is damaged; its lost records are being fetched from other members. At least 100 entries lost, 7 records fetched. Up to 3 timers gone.',
    'warn: Damage on the disk of n2 is mended; look at the disk.',
  ]);
});

test('a member that joins in etcd is not ready yet', () => {
  const members = [member('n0'), member('n2', { phase: 'joining' })];
  const cluster = { ...well.cluster, source: 'etcd', members };
  const says = findings({ ...well, cluster }, null).map((found) => found.says);
  expect(says).toEqual(['n2 is joining.']);
});

test('members that come and go, a resync and repair are told while they last', () => {
  const members = [
    member('n0'),
    member('n1', { phase: 'leaving' }),
    member('n2', { phase: 'joining' }),
  ];
  const cluster = {
    ...well.cluster,
    members,
    resync: { running: true, checked: 50, total: 200, moved: 7 },
    repair: { 'unconfirmed-records': 3, 'under-replicated': 4 },
  };
  const says = findings({ ...well, cluster }, null).map((found) => found.says);
  expect(says).toEqual([
    '4 timers not yet where the view wants them; repair is at it.',
    'n1 is leaving; 10 timers still to hand on.',
    'n2 is joining; resync towards it is under way.',
    '3 records wait for members that have not confirmed them.',
    'A resync is running: 50 of 200 records checked, 7 moved.',
  ]);
});

test('a member that distinct zones make hot is told with the reason, and that is no alarm', () => {
  const zoned = ['a', 'b', 'b', 'b', 'c', 'c', 'c'].map((zone, i) =>
    member(`n${i}`, { labels: { zone } }),
  );
  expect(findings({ ...withMembers(...zoned), factor: 3 }, null)).toEqual([
    {
      weight: 'note',
      says: 'n0 holds about 100 % of all timers with 3 copies, where its weight asks for 43 %: zone a has no other member, and copies are in distinct zones.',
      link: '#/topology',
    },
  ]);
  expect(findings(withMembers(...zoned), null)).toEqual([]);
});

test('a label that looks misspelt is told', () => {
  const zoned = [{ zone: 'a' }, { zone: 'b' }, { zoen: 'c' }].map((labels, i) =>
    member(`n${i}`, { labels }),
  );
  const told = findings(withMembers(...zoned), null).map(
    ({ weight, says }) => `${weight}: ${says}`,
  );
  expect(told.join()).toContain('note: n2 has the label "zoen" and no "zone"');
});
