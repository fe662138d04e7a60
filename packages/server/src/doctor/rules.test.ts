import { describe, expect, test } from 'vitest';
import { type MemberFacts, readFacts, writeFacts } from './facts.ts';
import { type ClusterFacts, examine } from './rules.ts';

const GiB = 1024 ** 3;
const well = readFacts('{}') as MemberFacts;
const member = (facts: Partial<MemberFacts> = {}): MemberFacts => ({
  ...well,
  name: 'a',
  release: '0.2.0',
  viewId: 'v1',
  upMs: 3_600_000,
  ...facts,
});
const cluster = (facts: Partial<ClusterFacts> = {}): ClusterFacts => ({
  members: [member(), member({ name: 'b' })],
  missing: [],
  hot: [],
  slips: [],
  factor: 2,
  ...facts,
});

/** Ids and weights of the findings. */
function found(facts: Partial<ClusterFacts>): string[] {
  return examine(cluster(facts)).map(({ id, weight }) => `${id} ${weight}`);
}

const one = (facts: Partial<MemberFacts>) => found({ members: [member(facts), member()] });

test('a cluster that is well has no findings', () => {
  expect(examine(cluster())).toEqual([]);
});

describe('each of these is found', () => {
  test.each<[string, Partial<MemberFacts>, string[]]>([
    ['a clock that is a little off', { clockOffsetMs: -250 }, ['clock-off look']],
    ['a clock that is far off', { clockOffsetMs: 1500 }, ['clock-off wrong']],
    ['a clock that is right', { clockOffsetMs: 20 }, []],
    [
      'a disk that is nearly full',
      { diskRoom: { freeBytes: 5 * GiB, totalBytes: 100 * GiB } },
      ['disk-nearly-full look'],
    ],
    ['a large disk with room', { diskRoom: { freeBytes: 30 * GiB, totalBytes: 4000 * GiB } }, []],
    ['a full disk', { diskFull: true }, ['disk-full wrong']],
    ['damage that is being mended', { diskState: 'mending' }, ['disk-damaged look']],
    ['damage that took records', { diskState: 'lost' }, ['disk-damaged wrong']],
    ['damage that is mended', { diskState: 'mended' }, []],
    ['slow syncs', { fsyncP99Ms: 150 }, ['disk-slow look']],
    ['very slow syncs', { fsyncP99Ms: 2000 }, ['disk-slow wrong']],
    ['nothing on disk', { durable: false }, ['memory-only note']],
    ['few files left', { openFiles: { now: 900, max: 1024 } }, ['files-near-limit look']],
    ['many connections', { connections: { now: 9, max: 10 } }, ['connections-near-limit look']],
    ['a full heap', { heapBytes: { now: 90, max: 100 } }, ['heap-near-limit look']],
    ['many records', { timers: { now: 80, max: 100 } }, ['timers-near-limit look']],
    ['many letters', { letters: { now: 80, max: 100 } }, ['letters-near-limit look']],
    [
      'a letter box',
      { boxes: [{ namespace: 'x', now: 8, max: 10 }] },
      ['letter-box-nearly-full look'],
    ],
    ['a late event loop', { lagP99Ms: 300 }, ['member-slow look']],
    ['late callbacks', { latenessP99Ms: 1200 }, ['member-slow look']],
    [
      'callbacks that are late while a receiver fails: its own are not in the figure',
      {
        latenessP99Ms: 9000,
        failing: [{ namespace: 'x', receiver: 'r', failure: '5xx', count: 1, forMs: 1 }],
      },
      ['member-slow look'],
    ],
    [
      'callbacks that are late because a member was silent until a minute ago',
      { latenessP99Ms: 2080, lagP99Ms: 83, silentLately: ['c'] },
      ['backups-pop note'],
    ],
    [
      'callbacks that are late because their member was down until a minute ago',
      { latenessP99Ms: 30_000, upMs: 60_000 },
      [],
    ],
    [
      'callbacks that are later than a backup makes them',
      { latenessP99Ms: 3000, silentLately: ['c'] },
      ['member-slow look'],
    ],
    [
      'callbacks of a second backup',
      { latenessP99Ms: 6000, silentLately: ['c', 'd'] },
      ['backups-pop note'],
    ],
    [
      'a late event loop beside a silent member',
      { latenessP99Ms: 2080, lagP99Ms: 300, silentLately: ['c'] },
      ['member-slow look', 'backups-pop note'],
    ],
    ['callbacks that wait', { callbacksQueued: 1000 }, ['callbacks-queue look']],
    ['a member that is not ready', { unready: 'The disk is full.' }, ['member-not-ready wrong']],
    ['a peer that is not heard', { silent: ['c'] }, ['peer-not-heard wrong']],
    ['peers that are refused', { peersRefused: 1 }, ['peers-refused look']],
    ['events without a receiver', { eventsGivenUp: 1 }, ['events-given-up look']],
    ['dead letters', { primaryLetters: 3 }, ['dead-letters look']],
    ['missing copies', { underReplicated: 3 }, ['copies-missing wrong']],
    [
      'copies that are on their way',
      { underReplicated: 3, resyncing: true },
      ['copies-missing look'],
    ],
    ['another view', { viewId: 'v2' }, ['views-differ wrong']],
    ['another release', { release: '0.3.0' }, ['releases-differ note']],
  ])('%s', (_, facts, findings) => {
    expect(one(facts)).toEqual(findings);
  });

  test('a member that does not answer, too few members, and a hot one', () => {
    const members = [member({ silent: ['c'] }), member({ name: 'b' })];
    expect(found({ members, missing: ['c'] })).toEqual(['member-silent wrong']);
    expect(found({ members: [member()] })).toEqual(['too-few-members note']);
    expect(found({ hot: ['a holds too much.'] })).toEqual(['hot-member note']);
    expect(found({ slips: ['b has the label "zoen".'] })).toEqual(['label-slip note']);
  });

  test('the advice on too few members names the factor that they can hold', () => {
    const alone = examine(cluster({ members: [member()], factor: 2 }));
    expect(alone[0]?.do).toContain('set defaultFactor to 1.');
    const two = examine(cluster({ factor: 3 }));
    expect(two[0]?.do).toBe('Add members, or set defaultFactor to 2.');
  });
});

test('a late member is told what is late, and no figure that is fine or not known', () => {
  const says = (facts: Partial<MemberFacts>): string | undefined =>
    examine(cluster({ members: [member(facts)] })).find(({ id }) => id === 'member-slow')?.says;
  expect(says({ lagP99Ms: 300, latenessP99Ms: 41_000 })).toBe(
    'a is late: its event loop by 300 ms, callbacks by 41000 ms (99th percentile).',
  );
  const loop = 'a is late: its event loop by 300 ms (99th percentile).';
  expect(says({ lagP99Ms: 300, latenessP99Ms: null })).toBe(loop);
  expect(says({ lagP99Ms: 300, latenessP99Ms: 3 })).toBe(loop);
  expect(says({ lagP99Ms: 300, latenessP99Ms: 2080, silentLately: ['c'] })).toBe(loop);
  const callbacks = 'a is late: callbacks by 1200 ms (99th percentile).';
  expect(says({ lagP99Ms: null, latenessP99Ms: 1200 })).toBe(callbacks);
  expect(says({ lagP99Ms: 83, latenessP99Ms: 1200 })).toBe(callbacks);
});

test('callbacks of a silent member come late by a step, in one finding that advises no more CPU', () => {
  const late = { latenessP99Ms: 2080, lagP99Ms: 83, silent: ['c'] };
  const members = [member(late), member({ ...late, name: 'b', latenessP99Ms: 2050 })];
  const findings = examine(cluster({ members, missing: ['c'] }));
  expect(findings.map(({ id }) => id)).toEqual(['member-silent', 'backups-pop']);
  expect(findings[1]?.says).toBe(
    'c is silent: backups make the callbacks of its timers, up to 2080 ms late (99th percentile).',
  );
  expect(findings[1]?.do).not.toContain('CPU');
  const lately = { ...late, silent: [], silentLately: ['c', 'd'] };
  expect(examine(cluster({ members: [member(lately), member()] }))[0]?.says).toBe(
    'c, d were silent in the last minutes: backups made the callbacks of their timers, up to 2080 ms late (99th percentile).',
  );
  const both = { ...late, silentLately: ['b', 'c'] };
  expect(examine(cluster({ members: [member(both)], missing: ['c'] }))[1]?.says).toMatch(
    /^c is silent: /,
  );
});

test('every finding says what to do, in sentences', () => {
  const everything = member({
    clockOffsetMs: 5000,
    diskFull: true,
    fsyncP99Ms: 2000,
    lagP99Ms: 500,
    silent: ['x'],
    viewId: 'v2',
    underReplicated: 1,
    primaryLetters: 1,
  });
  for (const { says, do: advice } of examine(cluster({ members: [everything, member()] }))) {
    expect(says).toMatch(/^[A-Za-z0-9].*\.$/);
    expect(advice).toMatch(/^[A-Za-z].*\.$/);
  }
});

test('letters are counted over all members, and may be more while one does not answer', () => {
  const members = [member({ primaryLetters: 3 }), member({ primaryLetters: 2 })];
  const says = (missing: readonly string[]) =>
    examine(cluster({ members, missing })).find(({ id }) => id === 'dead-letters')?.says;
  expect(says([])).toMatch(/^5 pops were given up and wait as dead letters/);
  expect(says(['c'])).toMatch(/^5 pops or more were given up/);
});

test('the gravest findings come first', () => {
  const weights = examine(
    cluster({ members: [member({ durable: false, fsyncP99Ms: 150, diskFull: true }), member()] }),
  ).map(({ weight }) => weight);
  expect(weights).toEqual(['wrong', 'look', 'note']);
});

describe('a destination', () => {
  const failing = (count: number, forMs: number, failure = '5xx') => [
    { namespace: 'default', receiver: 'http://shop.test', failure, count, forMs },
  ];

  test('that fails at several members is one finding', () => {
    const members = ['a', 'b'].map((name) => member({ name, failing: failing(3, 60_000) }));
    const [finding, ...more] = examine(cluster({ members }));
    expect(more).toEqual([]);
    expect(finding?.says).toBe(
      'Callbacks to http://shop.test (namespace default) fail for 60 s: 5xx, 6 in a row.',
    );
  });

  test('that has only just begun to fail is none', () => {
    expect(one({ failing: failing(100, 5000) })).toEqual([]);
    expect(one({ failing: failing(2, 60_000) })).toEqual([]);
  });

  test.each(['refused', 'timeout', 'unresolvable', 'tls', 'forbidden', '4xx', '5xx'])(
    'that fails with %s has advice of its own',
    (failure) => {
      const [finding] = examine(
        cluster({ members: [member({ failing: failing(9, 60_000, failure) }), member()] }),
      );
      expect(finding?.do.length).toBeGreaterThan(20);
    },
  );

  test('among very many is counted, not named', () => {
    const many = Array.from({ length: 30 }, (_, i) => ({
      ...failing(9, 60_000)[0]!,
      receiver: `http://r${i}.test`,
    }));
    const findings = examine(cluster({ members: [member({ failing: many }), member()] }));
    expect(findings).toHaveLength(21);
    expect(findings.at(-1)?.says).toBe('Callbacks to 10 further receivers fail.');
  });
});

test('facts of another release are read as far as they go', () => {
  const told = { ...member({ clockOffsetMs: 7 }), planets: 9, silent: 'all', viewId: 5 };
  expect(readFacts(JSON.stringify(told))).toMatchObject({
    clockOffsetMs: 7,
    silent: [],
    viewId: '',
  });
  expect(readFacts(JSON.stringify(told))).not.toHaveProperty('planets');
  expect(readFacts('[]')).toBeNull();
  expect(readFacts('{')).toBeNull();
  expect(readFacts(writeFacts(member()))).toEqual(member());
});
