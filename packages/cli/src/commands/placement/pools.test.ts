import { join } from 'node:path';
import type { Step } from '@carillon/placement';
import { afterAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../command.ts';
import { command as plan } from './plan.ts';
import { recordingIo } from '../../testing/world.ts';
import { run, testFolder } from '../../testing/placement.ts';
import { command as where } from './where.ts';

const { file, remove } = testFolder();
afterAll(remove);

describe('pools', () => {
  const zone = (id: string) =>
    `{ id: ${id}, children: [${['n0', 'n1', 'n2'].map((machine) => `{ id: ${machine}, children: [{ id: d0 }, { id: d1 }] }`).join(', ')}] }`;
  const text = `levels: [zone, node, disk]\nslots: [{ name: queue, count: 8 }]\nchildren: [${zone('z0')}, ${zone('z1')}]`;

  test('a key of a table is placed in the table’s pool, level by level', async () => {
    const path = file('pool.yaml', text);
    const args = ['acme/t/row/7', '--topology', path, '--partitions', '2', '--replicas', '2'];
    const { json } = await run(where, ...args, '--json');
    const { replicas } = json();
    expect(replicas).toHaveLength(2);
    expect(Object.keys(replicas[0].at)).toEqual(['zone', 'node', 'disk', 'queue']);
    const { out } = await run(where, ...args);
    expect(out[0]).toMatch(/^ROLE +ZONE +NODE +DISK +QUEUE/);
    expect(out).toHaveLength(3);
  });

  test('the steps of a lookup are shown: the rounds of the virtual tree in each zone', async () => {
    const path = file('pool.yaml', text);
    const args = ['acme/t/row/7', '--topology', path, '--partitions', '2', '--replicas', '2'];
    const { json } = await run(where, ...args, '--fan-outs', '4,2,2', '--explain', '--json');
    expect(json().steps.map(({ path: at, level }: Step) => `${at} ${level}`)).toEqual([
      'z0 stripe 1',
      'z0 stripe 2',
      'z0 node',
      'z1 stripe 1',
      'z1 stripe 2',
      'z1 node',
    ]);
    const { out } = await run(where, ...args, '--explain');
    expect(out.join('\n')).toContain('node below z0, replicas: 1');
    await expect(where.run([...args, '--fan-outs', '4,3'], recordingIo())).rejects.toThrow(
      /must end with 2 \(machines per zone\)/,
    );
  });

  test('the cluster of the notes and its third zone, from the example files: six places, a third moves', async () => {
    const example = (day: string) =>
      join(import.meta.dirname, '../../../../../examples', `cluster-${day}.yaml`);
    const pool = ['--partitions', '16', '--zones', '2', '--replicas', '6', '--pin', 'region=r0'];
    const row = ['acme/orders/row/4711', '--topology', example('today')];
    const { out } = await run(where, ...row, ...pool);
    expect(out.join('\n')).toMatch(
      /REGION +ZONE +NODE +DISK +NAMESPACE +QUEUE\nprimary +r0 +z0 +n10 +d15/,
    );
    const days = [example('today'), example('tomorrow')];
    const sample = ['--table', 'acme/orders/row', '--sample', '2000', '--json'];
    const change = (await run(plan, ...days, ...pool, ...sample)).json();
    expect(change.moved).toBe(change.minimum);
    expect(change.moved / change.copies).toBeCloseTo(1 / 3, 3);
  });

  test('plan tells the moves of a table when a zone comes, and refuses another shape', async () => {
    const third = (rollout: number) =>
      `expansions: [{ id: spring, rollout: ${rollout} }]\n${text.slice(0, -1)}, ${zone('z2').replace('{ id: z2', '{ id: z2, expansion: spring')}]`;
    const before = file('before.yaml', third(0));
    const after = file('after.yaml', third(1));
    const shape = ['--partitions', '2', '--replicas', '6', '--sample', '300'];
    const args = [before, after, ...shape, '--table', 'acme/t/row'];
    const change = (await run(plan, ...args, '--zones', '2', '--json')).json();
    expect(change.table).toBe('acme/t/row');
    expect(change.moved).toBe(change.minimum);
    expect(change.moved / change.copies).toBeCloseTo(1 / 3, 1);
    const two = await run(plan, ...args, '--zones', '2', '--table', 'other/t/row');
    expect(two.out.join('\n')).toMatch(/TABLE.*COPIES[\s\S]*other\/t\/row[\s\S]*all of them/);
    await expect(plan.run(args, recordingIo())).rejects.toThrow(/"zones": 2 without "z2"/);
    await expect(plan.run([...args, '--zones', '5'], recordingIo())).rejects.toThrow(
      /6 replicas do not divide over 5 zones/,
    );
    for (const wrong of [
      [before, after, '--table', 'acme/t/row'],
      [before, after, ...shape],
      [...args, '--account', 'acme'],
    ]) {
      await expect(plan.run(wrong, recordingIo())).rejects.toThrow(/--partitions/);
    }
  });

  test('a pool by widths, in its own tree, for any key and any name of a pool', async () => {
    const path = file('pool.yaml', text);
    const shape = ['--topology', path, '--width', 'node=2', '--width', 'disk=1'];
    const asked = ['acme/t/row/7', ...shape, '--replicas', '2', '--explain', '--json'];
    const byWidth = (await run(where, ...asked, '--tree', 'virtual')).json();
    const byPartitions = await run(
      where,
      ...'acme/t/row/7 --partitions 2 --replicas 2 --json --topology'.split(' '),
      path,
    );
    expect(byWidth.replicas).toEqual(byPartitions.json().replicas);
    const own = (await run(where, ...asked, '--tree', 'pool')).json();
    expect(own).toMatchObject({ pool: 'acme/t/row', tree: 'pool' });
    expect(own.steps.map(({ level }: Step) => level)).toEqual(
      'zone node disk node disk'.split(' '),
    );
    const named = ['any key', ...shape, '--pool', 'archive', '--tree', 'pool', '--explain'];
    const { out } = await run(where, ...named);
    expect(out[0]).toMatch(/^ROLE +ZONE +NODE +DISK +QUEUE/);
    expect(out.at(-1)).toContain('5 steps: a step is one round of ranking.');
  });

  test('the slots of a pool are listed, and a dead disk’s slot with its substitute', async () => {
    const shape = ['--width', 'node=2', '--width', 'disk=1', '--pool', 'acme/t/row'];
    const healthy = file('pool.yaml', text);
    const { json } = await run(where, '--slots', '--topology', healthy, ...shape, '--json');
    const { slots } = json();
    expect(slots).toHaveLength(4);
    const [zoneId, machine, disk] = slots[0].owner.split('/');
    const dead = file(
      'dead.yaml',
      `${text.slice(0, text.indexOf('children'))}quorum: { disk: 1 }\n${text
        .slice(text.indexOf('children'))
        .replace(
          new RegExp(`(id: ${zoneId},.*?id: ${machine},.*?id: ${disk}) `),
          '$1, up: false ',
        )}`,
    );
    const { out } = await run(where, '--slots', '--topology', dead, ...shape);
    const line = out.join('\n').split('\n');
    expect(line[1]).toMatch(
      new RegExp(`^0\\.0\\.0 +${slots[0].owner} +${zoneId}/${machine}/d[01]`),
    );
    expect(out.at(-1)).toBe('4 slots');
  });

  test('plan of a pool by widths, in its own tree: a third zone takes a third', async () => {
    const two = file('two.yaml', text);
    const three = file('three.yaml', `${text.slice(0, -1)}, ${zone('z2')}]`);
    const shape = ['--width', 'node=2', '--width', 'disk=2', '--replicas', '6', '--tree', 'pool'];
    const args = [two, three, ...shape, '--table', 'acme/t/row', '--sample', '600', '--json'];
    const change = (await run(plan, ...args)).json();
    expect(change.moved).toBe(change.minimum);
    expect(change['even-minimum'] / change.copies).toBeCloseTo(1 / 3, 3);
    expect(change.moved / change.copies).toBeCloseTo(1 / 3, 1);
  });

  test.each([
    [['acme/t/row/7', '--partitions', '2', '--width', 'node=2'], /either --partitions N/],
    [['acme/t/row/7', '--tree', 'pool'], /either --partitions N/],
    [['acme/t/row/7', '--tree', 'apple', '--partitions', '2'], /virtual or pool/],
    [['acme/t/row/7', '--tree', 'pool', '--partitions', '2', '--fan-outs', '2'], /virtual tree/],
    [['acme/t/row/7', '--partitions', '2', '--roles', 'rank'], /no --roles/],
    [
      ['acme/t/row/7', '--pool', 'p', '--width', 'node=1', '--zones', '2'],
      /goes with --partitions/,
    ],
    [['acme/t/row/7', '--partitions', '2', '--account', 'acme'], /names its account, acme/],
    [['--slots', '--partitions', '2'], /--pool NAME/],
  ])('%j is wrong usage', async (args, sentence) => {
    const failed = where.run([...args, '--topology', file('pool.yaml', text)], recordingIo());
    await expect(failed).rejects.toThrow(sentence);
    await expect(failed).rejects.toBeInstanceOf(UsageError);
  });

  test('without a topology or with a number it is wrong usage', async () => {
    for (const args of [
      ['a/t/x/1', '--members', 'A', '--partitions', '2'],
      ['--id', '0000000000000064', '--topology', 'x', '--partitions', '2'],
    ]) {
      await expect(where.run(args, recordingIo())).rejects.toThrow(/--partitions needs/);
    }
  });
});

describe('accounts', () => {
  const grown = (rollout: number) => `
levels: [zone, disk]
expansions: [{ id: spring, rollout: ${rollout} }]
children:
  - { id: east, children: [{ id: d1 }, { id: d2 }] }
  - { id: west, expansion: spring, children: [{ id: d1 }, { id: d2 }] }
`;

  test('an unfinished rollout needs an account, and the account decides', async () => {
    const path = file('grown.yaml', grown(0));
    await expect(where.run(['k', '--topology', path], recordingIo())).rejects.toThrow(
      /grown\.yaml: .*"spring" \(0\)\. Name the account\. Use --account ID\./,
    );
    const args = ['k', '--topology', path, '--replicas', '2', '--json', '--account', 'acme'];
    const old = await run(where, ...args);
    expect(old.json().replicas.every((replica: string) => replica.startsWith('east/'))).toBe(true);
    const young = await run(where, ...args, '--created-under', 'spring');
    expect(young.json().replicas.some((replica: string) => replica.startsWith('west/'))).toBe(true);
  });

  test('plan from rollout 0 to 1 shows the movement for each account and in all', async () => {
    const [before, after] = [file('r0.yaml', grown(0)), file('r1.yaml', grown(1))];
    const args = [before, after, '--replicas', '1', '--sample', '2000'];
    const { json } = await run(plan, ...args, '--account', 'a', '--account', 'b', '--json');
    expect(json().accounts.map(({ account }: { account: string }) => account)).toEqual(['a', 'b']);
    expect(json().all.moved / json().all.copies).toBeCloseTo(0.5, 1);
    expect(json().all['even-minimum']).toBe(2000);
    const { out } = await run(plan, ...args, '--account', 'a', '--account', 'b');
    expect(out.join('\n')).toMatch(/all of them +4000 +\d+\.\d\d % +\d+\.\d\d % +50\.00 %/);
    const half = file('half.yaml', grown(0.5));
    const one = await run(plan, before, half, '--account', 'a', '--sample', '100', '--json');
    expect([0, 100]).toContain(one.json().moved);
  });
});
