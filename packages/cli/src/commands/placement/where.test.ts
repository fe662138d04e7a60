import { hex16 } from '@carillon/core';
import { numberingOf, renderTokens } from '@carillon/server';
import * as fc from 'fast-check';
import { View } from '@carillon/server/internal';
import { afterAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../command.ts';
import { command as plan } from './plan.ts';
import { fakeMember, recordingIo } from '../../testing/world.ts';
import { run, testFolder } from '../../testing/placement.ts';
import { command as where } from './where.ts';

const { file, remove } = testFolder();
afterAll(remove);

const yaml = `
levels: [zone, disk]
quorum: { disk: 1 }
children:
  - id: east
    children: [{ id: d1 }, { id: d2 }, { id: d3 }]
  - id: west
    children: [{ id: d1 }, { id: d2, up: false }, { id: d3 }]
  - { id: north, weight: 0 }
`;

describe('carillon where', () => {
  test('has the published answer for timer 100 over A, B, C', async () => {
    const { code, json } = await run(
      where,
      ...'--id 0000000000000064 --members C,A,B --replicas 3 --json'.split(' '),
    );
    expect(code).toBe(0);
    expect(json()).toMatchObject({
      key: '0000000000000064',
      replicas: ['B', 'A', 'C'],
      scores: { A: 4117022581, B: 1539445309, C: 4104135955 },
      complete: true,
      algorithm: 'carillon-placement-1',
    });
  });

  test('takes a whole timer id, and two replicas by default', async () => {
    const { json } = await run(
      where,
      ...'--id 00000000000000640000204080102040-2 --members A,B,C --json'.split(' '),
    );
    expect(json().replicas).toEqual(['B', 'A']);
  });

  test('an id of another namespace is placed as members with the same tokens file place it', async () => {
    const numberKey = 'ab'.repeat(32);
    const tokens = file('tokens.json', renderTokens({ tokens: [], numberKey }));
    const asked = '--id 0000000000000064 --members A,B,C --json'.split(' ');
    const of = ['--namespace', 'team-a'];
    const keyText = async (...more: string[]): Promise<unknown> =>
      (await run(where, ...asked, ...more)).json().key;
    const kept = (key: string | null): string => {
      const { hi, lo } = numberingOf(key).inside('team-a', { hi: 0, lo: 100 });
      return hex16(hi, lo);
    };
    expect(await keyText(...of, '--tokens', tokens)).toBe(kept(numberKey));
    expect(await keyText(...of)).toBe(kept(null));
    expect((await run(where, ...asked, ...of)).err.join()).toContain('add --tokens FILE');
    expect(await keyText('--tokens', tokens)).toBe('0000000000000064');
    await expect(run(where, ...asked, ...of, '--tokens', '/none')).rejects.toThrow(UsageError);
  });

  test('prints roles for people', async () => {
    const { out } = await run(where, '--id', '0000000000000064', '--members', 'A,B,C');
    expect(out.map((line) => line.trim())).toEqual([
      'ROLE      TARGET',
      'primary   B',
      'backup 1  A',
    ]);
  });

  test('walks a topology from YAML and from JSON alike', async () => {
    const path = file('t.yaml', yaml);
    const one = await run(where, 'key', '--topology', path, '--replicas', '3', '--json');
    expect(one.json().replicas).toHaveLength(3);
    expect(one.json().replicas).not.toContain('west/d2');
    const { parse } = await import('yaml');
    const same = file('t.json', JSON.stringify(parse(yaml)));
    const other = await run(where, 'key', '--topology', same, '--replicas', '3', '--json');
    expect(other.json()).toEqual(one.json());
  });

  test('explains every step with candidates and scores', async () => {
    const { out } = await run(where, 'key', '--topology', file('t.yaml', yaml), '--explain');
    const text = out.join('\n');
    expect(text).toMatch(/zone at the top, replicas: 2/);
    expect(text).toMatch(/north: planned/);
    expect(text).toMatch(/disk below (east|west), replicas: 1/);
    expect(text).toMatch(/d2: dead/);
  });

  test('pins and widths', async () => {
    const path = file('t.yaml', yaml);
    const pinned = await run(where, 'key', '--topology', path, '--pin', 'zone=east', '--json');
    for (const replica of pinned.json().replicas) expect(replica).toMatch(/^east\//);
    const narrow = await run(where, 'key', '--topology', path, '--width', 'zone=1', '--json');
    const zones = narrow.json().replicas.map((replica: string) => replica.split('/')[0]);
    expect(new Set(zones).size).toBe(1);
  });

  test('fewer members than replicas: all of them, and a word about it', async () => {
    const { code, err, out } = await run(where, 'key', '--members', 'A', '--replicas', '3');
    expect(code).toBe(0);
    expect(out.join()).toContain('primary  A');
    expect(err.join()).toBe('There are 1 of 3 replicas: not enough live targets.');
  });

  test.each([
    [[], /either a KEY or --id/],
    [['key', '--id', '0000000000000064', '--members', 'A'], /either a KEY or --id/],
    [['key'], /in one way: --members/],
    [['key', '--members', 'A', '--topology', 'x'], /in one way: --members/],
    [['a', 'b', '--members', 'A'], /one key/],
    [['--id', '64', '--members', 'A'], /16 hex digits/],
    [['key', '--members', 'A', '--replicas', '0'], /--replicas must be/],
    [['key', '--members', 'A', '--roles', 'king'], /chronos or rank/],
    [['key', '--members', 'A', '--pin', 'zone=x'], /need a topology/],
    [['key', '--members', 'A', '--account', 'x'], /need a topology/],
  ])('%j is wrong usage', async (args, sentence) => {
    const failed = where.run(args, recordingIo());
    await expect(failed).rejects.toThrow(sentence);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
  });

  test('a pin without a value is wrong usage', async () => {
    const failed = where.run(
      ['k', '--topology', file('t.yaml', yaml), '--pin', 'zone'],
      recordingIo(),
    );
    await expect(failed).rejects.toThrow(/LEVEL=VALUE/);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
  });

  test('a bad topology names the file and the vertex', async () => {
    const bad = file('bad.yaml', 'levels: [disk]\nchildren: [{ id: a, weight: -1 }]');
    await expect(where.run(['k', '--topology', bad], recordingIo())).rejects.toThrow(
      /bad\.yaml: "a" has the weight -1/,
    );
    const broken = file('broken.yaml', 'levels: [disk');
    await expect(where.run(['k', '--topology', broken], recordingIo())).rejects.toThrow(
      /broken\.yaml cannot be read/,
    );
    const none = `${broken}.none`;
    await expect(where.run(['k', '--topology', none], recordingIo())).rejects.toThrow(
      /none cannot be read/,
    );
    const loop = file(
      'loop.yaml',
      'levels: [a, b]\nchildren:\n  - &x\n    id: x\n    children: [*x]',
    );
    await expect(where.run(['k', '--topology', loop], recordingIo())).rejects.toThrow(
      /must be a tree/,
    );
  });
});

interface Listed {
  readonly name: string;
  readonly address: string;
  readonly peer: string;
  readonly phase: 'active';
  readonly weight: number;
  readonly labels: Readonly<Record<string, string>>;
}

/** Members as a members file lists them, each with a zone, with several labels, or with none. */
function membersFile(
  labels: readonly (string | null | Readonly<Record<string, string>>)[],
  weights: readonly number[] = [],
): Listed[] {
  return labels.map((given, i) => ({
    name: `n${i}`,
    address: `10.0.0.${i}:7253`,
    peer: `10.0.0.${i}:7353`,
    phase: 'active' as const,
    weight: weights[i] ?? 1,
    labels: typeof given === 'string' ? { zone: given } : (given ?? {}),
  }));
}

describe('members as a cluster has them', () => {
  const label = (...ids: string[]) => fc.option(fc.constantFrom(...ids), { nil: undefined });
  const labels = fc
    .record({
      region: label('eu', 'us'),
      zone: label('a', 'b', 'c', 'd'),
      rack: label('r1', 'r2'),
      owner: label('x'),
    })
    .map((all): Record<string, string> => {
      const given = Object.entries(all).filter(([, id]) => id !== undefined);
      return Object.fromEntries(given as [string, string][]);
    });
  const zone = fc.constantFrom<(string | null)[]>('a', 'b', 'c', 'd', null);
  const cluster = fc.record({
    labelled: fc.oneof(
      fc.array(zone, { minLength: 1, maxLength: 9 }),
      fc.array(labels, { minLength: 1, maxLength: 9 }),
    ),
    weights: fc.array(fc.constantFrom(1, 1, 1, 2, 0.5), { minLength: 9, maxLength: 9 }),
    factor: fc.integer({ min: 1, max: 4 }),
    lo: fc.nat({ max: 0xffff_ffff }),
  });

  test('a members file gives the answer of the members, with any regions, zones, racks and weights', async () => {
    await fc.assert(
      fc.asyncProperty(cluster, async ({ labelled, weights, factor, lo }) => {
        const members = membersFile(labelled, weights);
        const path = file('members.json', JSON.stringify({ members }));
        const id = lo.toString(16).padStart(16, '0');
        const question = ['--id', id, '--members', path, '--replicas', String(factor), '--json'];
        const { json } = await run(where, ...question);
        const view = new View({ source: 'static', revision: 1, members });
        expect(json().replicas).toEqual(view.place(0, lo, factor));
        expect(json().algorithm).toBe(view.placementId);
      }),
      { numRuns: 100 },
    );
  });

  test('a running cluster is asked for its members; leaving ones hold nothing', async () => {
    const members = membersFile(['a', 'a', 'b', 'b']).map((one, i) => ({
      ...one,
      phase: i === 3 ? 'leaving' : 'active',
      self: i === 0,
      reachable: true,
    }));
    const member = await fakeMember(() => ({
      body: { 'view-id': 'v', revision: 1, source: 'static', 'default-factor': 3, members },
    }));
    const question = ['k', '--server', member.url, '--json'];
    const { json } = await run(where, ...question, '--replicas', '4');
    const byDefault = await run(where, ...question);
    const then = file('after.json', JSON.stringify({ members: membersFile(['a', 'a', 'b']) }));
    const change = [then, '--server', member.url, '--sample', '1000', '--json'];
    const moved = await run(plan, ...change);
    member.close();
    expect(new Set(json().replicas)).toEqual(new Set(['n0', 'n1', 'n2']));
    expect(moved.json().moved).toBe(0);
    // Without --replicas the factor is that of the cluster, for both commands.
    expect(byDefault.json().wanted).toBe(3);
    expect(moved.json().copies).toBe(3000);
  });

  test('a misspelt field of a members file is told with the file, the place and the right word', async () => {
    const members = membersFile(['a']).map(({ weight, ...one }) => ({ ...one, wieght: weight }));
    const path = file('typo.json', JSON.stringify({ members }));
    await expect(where.run(['k', '--members', path], recordingIo())).rejects.toThrow(
      /typo\.json: members\[0\] has no field "wieght"; did you mean "weight"\?/,
    );
  });

  test('a label that looks misspelt is told by where and plan, and changes nothing', async () => {
    const [n0, n1, n2] = membersFile(['a', 'b', 'c']) as [Listed, Listed, Listed];
    const members = [n0, n1, { ...n2, labels: { zoen: 'c' } }];
    const path = file('slip.json', JSON.stringify({ members }));
    const says = /n2 has the label "zoen" and no "zone", which 2 other members have: a slip\?/;
    expect((await run(where, 'k', '--members', path)).err.join()).toMatch(says);
    const right = file('right.json', JSON.stringify({ members: [n0, n1, n2] }));
    expect((await run(plan, right, path, '--sample', '100')).out.join('\n')).toMatch(says);
    expect((await run(plan, right, right, '--sample', '100', '--json')).json().slips).toEqual([]);
  });

  test('plan says which member distinct zones make hot', async () => {
    const before = file('one.json', JSON.stringify({ members: membersFile(['a', 'b', 'b']) }));
    const after = file(
      'two.json',
      JSON.stringify({ members: membersFile(['a', 'b', 'b', 'b', 'c', 'c', 'c']) }),
    );
    const { out } = await run(plan, before, after, '--replicas', '3', '--sample', '1000');
    expect(out.join('\n')).toContain('n0 holds about 100 % of all timers with 3 copies');
  });
});

describe('carillon plan', () => {
  test('A,B,C to A,B,C,D: a quarter of the primaries, only onto D, nothing between survivors', async () => {
    const { code, json } = await run(plan, 'A,B,C', 'A,B,C,D', '--replicas', '1', '--json');
    expect(code).toBe(0);
    const change = json();
    expect(change.moved).toBe(change.minimum);
    expect(change.moved / change.copies).toBeCloseTo(0.25, 2);
    expect(change['between-survivors']).toBe(0);
    expect(change['even-minimum']).toBe(25_000);
    expect(new Set(change.flows.map(({ to }: { to: string }) => to))).toEqual(new Set(['D']));
  });

  test('topology files: copies that leave and arrive per domain', async () => {
    const before = file('before.yaml', yaml);
    const after = file('after.yaml', yaml.replace('{ id: d1 }', '{ id: d1, up: false }'));
    const { out } = await run(plan, before, after, '--replicas', '1', '--sample', '5000');
    const text = out.join('\n');
    expect(text).toMatch(/copies that move +\d+/);
    expect(text).toMatch(/least for these loads +\d+/);
    expect(text).toMatch(/least for exact shares +\d+/);
    expect(text).toMatch(/between survivors +0/);
    expect(text).toMatch(/east\/d1/);
    expect(text).not.toMatch(/west\/d1/);
  });

  test('long tables are cut, and say so', async () => {
    const members = Array.from({ length: 30 }, (_, i) => `m${i}`);
    const { out } = await run(
      plan,
      members.join(','),
      [...members, 'new'].join(','),
      '--sample',
      '20000',
    );
    expect(out.join('\n')).toMatch(/… and \d+ more \(--json has all\)/);
  });

  test.each([
    [['A,B'], /two operands/],
    [['A', 'B', 'C'], /two operands/],
    [['A', 'B', '--sample', '0'], /--sample must be/],
  ])('%j is wrong usage', async (args, sentence) => {
    await expect(plan.run(args, recordingIo())).rejects.toThrow(sentence);
  });

  test('members against a topology is refused', async () => {
    const path = file('t.yaml', yaml);
    await expect(plan.run(['A,B', path], recordingIo())).rejects.toThrow(/both be members or both/);
  });

  test('the same member twice is refused by name', async () => {
    for (const operands of [
      ['A,A', 'A'],
      ['A', 'A,A'],
    ]) {
      const planned = plan.run(operands, recordingIo());
      await expect(planned).rejects.toMatchObject({
        name: 'UsageError',
        message: 'The members A,A: The target "A" is listed twice; each name may appear once.',
      });
    }
    await expect(where.run(['k', '--members', 'A,A'], recordingIo())).rejects.toMatchObject({
      name: 'UsageError',
      message: '--members: The target "A" is listed twice; each name may appear once.',
    });
  });
});
