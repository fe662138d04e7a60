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
  const { flat } = await run(tell, microShare);
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
  ];
}
