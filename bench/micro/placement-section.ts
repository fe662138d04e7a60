/** Placement beside the packages that people use today and beside the bare hash, as a section of the report. */
import type { Column, Row, Section } from '../page/section.ts';
import type { Context } from '../workloads/workload.ts';
import { run } from './placement.ts';

const kinds: Readonly<Record<string, Row['kind']>> = {
  carillon: 'ours',
  'carillon skeleton': 'ours',
  'carillon, text keys': 'ours',
  'bare hash': 'baseline',
};

export async function placement({
  tell,
  sizes: { microShare },
}: Context): Promise<readonly Section[]> {
  const { flat, tree } = await run(tell, microShare);
  const sizes = Object.keys(flat);
  const columns = sizes.map(
    (size): Column => ({ key: size, title: `of ${size}`, unit: 'perSecond', better: 'more' }),
  );
  const names = [...new Set(Object.values(flat).flatMap((rows) => rows.map(({ name }) => name)))];
  const perSecond = (size: string, name: string): number | null =>
    flat[size]?.find((row) => row.name === name)?.perSecond ?? null;
  const rows = names.map(
    (name): Row => ({
      name,
      label: name,
      kind: kinds[name] ?? 'peer',
      values: Object.fromEntries(sizes.map((size) => [size, perSecond(size, name)])),
    }),
  );
  return [
    {
      id: 'placement',
      title: 'Placement',
      what: 'Two targets of 3 to 1,000 for a key: picks per second of CPU. node-hashring and rendezvous-hash find only one.',
      columns,
      rows,
      headline: { column: '10', reference: 'carillon' },
      charts: [
        {
          kind: 'bars',
          id: 'placement',
          title: 'Placement · Picks a second, 2 of 10',
          column: '10',
        },
      ],
      notes: [
        'The bare hash is one hash of the key for each target and the highest kept: the least cost of rendezvous hashing unless, as in the skeleton, not every target is looked at.',
      ],
    },
    treesSection(tree),
  ];
}

/** Six replicas of a key in a cluster of 2048 disks, by each tree, beside CRUSH. */
function treesSection(trees: Awaited<ReturnType<typeof run>>['tree']): Section {
  const rows = trees.map(
    ({ name, perSecond, timesCrush, moved }): Row => ({
      name,
      label: name,
      kind: name.startsWith('CRUSH') ? 'peer' : 'ours',
      values: { perSecond, timesCrush, moved },
    }),
  );
  const target = 15;
  const cluster = trees.find(({ name }) => name === 'cluster tree')?.timesCrush ?? null;
  const verdict =
    cluster === null
      ? 'CRUSH is left out: there is no crushtool on this machine.'
      : `The target of the cluster tree is ${target} × CRUSH; it is ${cluster >= target ? 'met' : 'not met'}.`;
  return {
    id: 'trees',
    title: 'Trees and pools',
    what: 'Six replicas of a key on 2 regions × 2 zones × 32 machines × 16 disks, per second of CPU, beside CRUSH straw2 by Ceph’s crushtool on the same tree; and the copies that move when one disk is taken out, against the copies it had.',
    columns: [
      { key: 'perSecond', title: 'a second of CPU', unit: 'perSecond', better: 'more' },
      { key: 'timesCrush', title: 'times CRUSH', unit: 'ratio', better: 'more' },
      { key: 'moved', title: 'moved ÷ least', unit: 'ratio', better: 'less' },
    ],
    rows,
    headline: null,
    charts: [],
    notes: [verdict],
  };
}
