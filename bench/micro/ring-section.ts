/** The lock ring as a section: its figures are told as they come and kept as rows. */
import type { Row, Section } from '../page/section.ts';
import type { Context } from '../workloads/workload.ts';
import { run } from './ring.ts';

export async function ring({ tell }: Context): Promise<readonly Section[]> {
  const results = await run(tell);
  const rows = Object.entries(results).flatMap(([group, figures]) => figuresOf(group, figures));
  return [
    {
      id: 'ring',
      title: 'The lock ring',
      what: 'Locks in owned slots, hand-over and take-over on a real etcd, beside plain locks in etcd through the same client.',
      columns: [{ key: 'value', title: 'measured', unit: 'count', better: 'neither' }],
      rows,
      headline: null,
      charts: [],
      notes: [],
    },
  ];
}

function figuresOf(path: string, value: unknown): Row[] {
  if (typeof value === 'number') {
    const rounded = Math.round(value * 1000) / 1000;
    return [{ name: path, label: path, kind: 'ours', values: { value: rounded } }];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => figuresOf(`${path} ${key}`, inner));
}
