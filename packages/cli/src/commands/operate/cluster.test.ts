import { afterEach, describe, expect, test } from 'vitest';
import { release } from '../../index.ts';
import { run } from '../../run.ts';
import {
  type Answer,
  type Asked,
  type FakeMember,
  fakeMember,
  recordingIo,
} from '../../testing/world.ts';

const members: FakeMember[] = [];
afterEach(() => {
  for (const made of members.splice(0)) made.close();
});

async function member(script: (asked: Asked) => Answer): Promise<FakeMember> {
  const made = await fakeMember(script);
  members.push(made);
  return made;
}

function viewOf(entries: readonly object[], underReplicated = 0): object {
  return {
    'view-id': 'abcd',
    revision: 4,
    source: 'static',
    members: entries,
    resync: { running: false, checked: 0, total: 0, moved: 0 },
    repair: { 'unconfirmed-records': 0, 'under-replicated': underReplicated },
  };
}

const n0 = {
  name: 'n0',
  address: '10.0.0.1:7253',
  phase: 'active',
  weight: 1,
  self: true,
  reachable: true,
  timers: 5,
  primaries: 3,
  labels: { zone: 'a' },
};
const n1 = { ...n0, name: 'n1', address: '10.0.0.2:7253', self: false, 'clock-offset-ms': 12.4 };

async function cli(args: readonly string[], url: string) {
  const io = recordingIo({ CARILLON_SERVER: url });
  return { code: await run(args, io, release), out: io.outLines, err: io.errLines };
}

describe('carillon cluster', () => {
  test('status says which member is hot and why; that is no failure', async () => {
    const says =
      'n0 holds about 100 % of all timers with 3 copies, where its weight asks for 43 %.';
    const { url } = await member(({ path }) =>
      path === '/metrics' ? { text: '' } : { body: { ...viewOf([n0, n1]), hot: [says] } },
    );
    const { code, out } = await cli(['cluster', 'status'], url);
    expect(code).toBe(0);
    expect(out).toContain(says);
  });

  test('status says which label looks misspelt; that is no failure', async () => {
    const zoned = [
      { ...n0, labels: { zone: 'a' } },
      { ...n1, labels: { Zone: 'b' } },
    ];
    const { url } = await member(({ path }) =>
      path === '/metrics' ? { text: '' } : { body: viewOf(zoned) },
    );
    const { code, out } = await cli(['cluster', 'status'], url);
    expect(code).toBe(0);
    expect(out.join('\n')).toContain('n1 has the label "Zone" and no "zone", which n0 has');
  });

  test('status of a healthy cluster exits 0', async () => {
    const { url } = await member(({ path }) =>
      path === '/metrics'
        ? { text: '# HELP\ncarillon_callback_breakers_open 0\n' }
        : { body: viewOf([n0, n1]) },
    );
    const { code, out } = await cli(['cluster', 'status'], url);
    expect(code).toBe(0);
    expect(out[0]).toBe('All is well.');
    expect(out.join('\n')).toMatch(/members +2 active: n0, n1\n/);
    expect(out.join('\n')).toMatch(/timers +6\n/);
    expect(out.join('\n')).toMatch(/to repair .+ too few copies, of records at n0\n/);
    expect(out.join('\n')).toMatch(/callbacks +none fails\n/);
  });

  test('status counts timers of a silent member as not known, and says whose records are to be repaired', async () => {
    const silent = { ...n1, reachable: false, timers: null, primaries: null };
    const { url } = await member(({ path }) =>
      path === '/metrics' ? { text: '' } : { body: viewOf([{ ...n0, primaries: 0 }, silent]) },
    );
    const { code, out } = await cli(['cluster', 'status'], url);
    expect([code, out[0]]).toEqual([1, expect.stringContaining('No word from n1.')]);
    expect(out.join('\n')).toMatch(/timers +at least 0; no word from n1\n/);
    expect(out.join('\n')).toMatch(
      /to repair +0 unconfirmed, 0 with too few copies, of records at n0; not known of other/,
    );
  });

  test('status tells of dead letters, timers that are tried again and destinations left alone', async () => {
    const script = ({ path }: Asked): Answer => {
      if (path === '/cluster') return { body: viewOf([n0]) };
      if (path === '/metrics') return { text: 'carillon_callback_breakers_open{cluster="c"} 2\n' };
      if (path.startsWith('/dead-letters')) return { body: { 'dead-letters': [{}, {}, {}] } };
      return { body: { timers: path.includes('state=retrying') ? [{}] : [], cursor: null } };
    };
    const { url } = await member(script);
    const { code, out } = await cli(['cluster', 'status'], url);
    expect([code, out[0]]).toEqual([
      0,
      'The members are well; callbacks fail: 3 dead letters, 1 timer is tried again, 2 destinations are left alone for a while.',
    ]);
    const asJson = await cli(['cluster', 'status', '--json'], url);
    expect(JSON.parse(asJson.out[0] ?? '')).toEqual({
      ...viewOf([n0]),
      worries: [],
      callbacks: { 'dead-letters': 3, retrying: 1, 'breakers-open': 2 },
    });
  });

  test('status of members that say nothing about callbacks says nothing about them either', async () => {
    const script = ({ path }: Asked): Answer =>
      path === '/cluster' ? { body: viewOf([n0]) } : { status: 403, body: {} };
    const { code, out } = await cli(['cluster', 'status'], (await member(script)).url);
    expect([code, out[0]]).toEqual([0, 'All is well.']);
    expect(out.join('\n')).toMatch(/callbacks +not known\n/);
  });

  test('status says why a joining member is not active yet', async () => {
    const joining = { ...n1, phase: 'joining' };
    const etcd = { ...viewOf([n0, joining]), source: 'etcd' };
    const silent = viewOf([n0, { ...joining, reachable: false }]);
    const says: unknown[] = [];
    for (const body of [viewOf([n0, joining]), silent, etcd]) {
      const { url } = await member(() => ({ body }));
      const { out } = await cli(['cluster', 'status'], url);
      says.push(out.find((line) => line.includes('n1:'))?.replace(/^joining +/, ''));
    }
    expect(says).toEqual([
      'n1: resync towards it is under way',
      'n1: no answer yet',
      'n1: not ready yet',
    ]);
  });

  test('status puts findings first, in sentences, and exits 1', async () => {
    const bad = [n0, { ...n1, reachable: false, 'clock-offset-ms': 4000 }];
    const { url } = await member(() => ({ body: viewOf(bad, 17) }));
    const { code, out } = await cli(['cluster', 'status'], url);
    expect(code).toBe(1);
    expect(out.slice(0, 3)).toEqual([
      'No word from n1.',
      'The clock of n1 is off by 4000 ms.',
      '17 timers, ended ones among them, are not known to be with all their members.',
    ]);
    const asJson = await cli(['cluster', 'status', '--json'], url);
    expect((JSON.parse(asJson.out[0] ?? '') as { worries: string[] }).worries).toHaveLength(3);
  });

  const wrong = (id: string, about: string | null, says: string, weight = 'wrong') => ({
    id,
    weight,
    member: about,
    says,
    do: 'Do this.',
  });

  test('status tells all that the doctor calls wrong, once, and exits 1', async () => {
    const findings = [
      wrong('member-not-ready', 'n0', 'n0 takes no requests: The disk is full.'),
      wrong('disk-full', 'n0', 'The disk of n0 is full: new timers are refused there.'),
      wrong('member-silent', 'n1', 'n1 is in the view and does not answer.'),
      wrong('copies-missing', null, '2 timers or more have fewer copies than they want.'),
      wrong('dead-letters', null, 'A pop was given up.', 'look'),
    ];
    const view = viewOf([n0, { ...n1, reachable: false }], 1);
    const script = ({ path }: Asked): Answer =>
      path === '/doctor' ? { body: { verdict: 'wrong', findings } } : { body: view };
    const { url } = await member(script);
    const { code, out } = await cli(['cluster', 'status'], url);
    const told = [
      'No word from n1.',
      '1 timer, which may have ended, is not known to be with all its members.',
      'n0 takes no requests: The disk is full.',
      'The disk of n0 is full: new timers are refused there.',
    ];
    expect([code, out.slice(0, 4)]).toEqual([1, told]);
    expect(out.join('\n')).not.toContain('is in the view');
    expect(out.join('\n')).not.toContain('given up');
    const asJson = await cli(['cluster', 'status', '--json'], url);
    expect((JSON.parse(asJson.out[0] ?? '') as { worries: string[] }).worries).toEqual(told);
  });

  test('status with a token that may not ask the doctor says that the asked member is not ready', async () => {
    const script = ({ path }: Asked): Answer => {
      if (path === '/cluster') return { body: viewOf([n0]) };
      if (path === '/readyz') return { status: 503, body: { detail: 'The disk is full.' } };
      return { status: 403, body: {} };
    };
    const { url } = await member(script);
    const { code, out } = await cli(['cluster', 'status'], url);
    expect([code, out[0]]).toEqual([
      1,
      `The member at ${url} takes no requests: The disk is full.`,
    ]);
  });

  test('status tells of damaged disks, and the losses of the asked member', async () => {
    const damage = {
      state: 'mending',
      'found-at': '2026-11-16T12:00:00.000Z',
      stretches: 2,
      'entries-lost': 100,
      'more-lost': false,
      'timers-lost': 7,
      'records-fetched': 40,
    };
    const disks = [
      { ...n0, disk: 'mending' },
      { ...n1, disk: 'lost' },
    ];
    const { url } = await member(() => ({ body: { ...viewOf(disks), damage } }));
    const { code, out } = await cli(['cluster', 'status'], url);
    expect(code).toBe(1);
    expect(out.slice(0, 2)).toEqual([
      'The disk of n0 is damaged; its lost records are being fetched from other members.',
      'The disk of n1 is damaged, and timers are gone: no other member has a copy of them.',
    ]);
    expect(out.join('\n')).toContain(
      'damaged in 2 places, found at 2026-11-16T12:00:00.000Z: 100 entries lost, 40 records fetched, up to 7 timers are gone, mending',
    );
  });

  test('members is a table', async () => {
    const { url } = await member(() => ({ body: viewOf([n0, n1]) }));
    const { out } = await cli(['cluster', 'members'], url);
    expect(out[1]).toMatch(/^n0 \* +10\.0\.0\.1:7253 +active +yes +5 +3 +- +- +1 +zone=a$/);
    expect(out[2]).toMatch(/^n1 .* 12ms /);
    const asJson = await cli(['cluster', 'members', '--json'], url);
    expect(asJson.out.map((line) => JSON.parse(line) as unknown)).toEqual([n0, n1]);
  });

  test('a silent member is not counted as active, and its last figures are not shown', async () => {
    const silent = { ...n1, reachable: false, timers: null, primaries: null, disk: 'whole' };
    const { url } = await member(({ path }) =>
      path === '/metrics' ? { text: '' } : { body: viewOf([n0, silent]) },
    );
    const { out } = await cli(['cluster', 'status'], url);
    expect(out.join('\n')).toMatch(/members +1 active: n0; silent: n1\n/);
    const [, , row = ''] = (await cli(['cluster', 'members'], url)).out;
    expect(row.split(/ {2,}/).slice(0, 8)).toEqual([
      'n1',
      '10.0.0.2:7253',
      'active',
      'no',
      '-',
      '-',
      '-',
      '-',
    ]);
  });

  test('drain asks the member itself and waits until it holds nothing', async () => {
    let left = 2;
    const leaving = await member(({ method }) =>
      method === 'POST'
        ? { status: 202 }
        : { body: viewOf([{ ...n1, self: true, timers: left-- }]) },
    );
    const asked = await member(() => ({
      body: viewOf([n0, { ...n1, address: leaving.url.slice('http://'.length) }]),
    }));
    const { code, out, err } = await cli(['cluster', 'drain', 'n1'], asked.url);
    expect([code, out]).toEqual([0, ['n1 holds no timers any more.']]);
    expect(err).toEqual([
      '2 timers left.',
      '1 timer left.',
      'Now take n1 out of the members file: until then the others wait for it.',
    ]);
    expect(leaving.asked[0]).toMatchObject({ method: 'POST', path: '/cluster/drain' });
    expect(asked.asked.map(({ method }) => method)).toEqual(['GET']);
  });

  test('drain of the member that is asked goes where it was asked', async () => {
    const { url, asked } = await member(({ method }) =>
      method === 'POST' ? { status: 202 } : { body: viewOf([n0]) },
    );
    const { code, out } = await cli(['cluster', 'drain', 'n0', '--no-wait'], url);
    expect([code, out]).toEqual([0, ['n0 is leaving.']]);
    expect(asked.at(-1)).toMatchObject({ method: 'POST', path: '/cluster/drain' });
  });

  test('drain of a member that does not exist names the existing ones', async () => {
    const { url, asked } = await member(() => ({ body: viewOf([n0, n1]) }));
    const { code, err } = await cli(['cluster', 'drain', 'n7'], url);
    expect(code).toBe(2);
    expect(err[0]).toContain('There is no member "n7"; the members are n0, n1.');
    expect(asked).toHaveLength(1);
  });

  test('a drain that takes too long exits 1', async () => {
    const { url } = await member(({ method }) =>
      method === 'POST' ? { status: 202 } : { body: viewOf([n0]) },
    );
    const { code, err } = await cli(['cluster', 'drain', 'n0', '--limit', '1ms'], url);
    expect(code).toBe(1);
    expect(err.at(-1)).toContain('still holds timers');
  });
});
