/** W8 on demand: a restart with many more timers. */
import type { Column, Section } from '../page/section.ts';
import { largeMember } from '../systems/carillon.ts';
import { withSession } from './session.ts';
import { type Context, failed, type Measured, rowOf } from './workload.ts';

const columns: readonly Column[] = [
  { key: 'restartSeconds', title: 'until it serves', unit: 'seconds', better: 'less' },
  { key: 'memoryRatio', title: 'memory after ÷ before', unit: 'ratio', better: 'less' },
  { key: 'lost', title: 'lost', unit: 'count', better: 'less' },
];

export async function restartLarge(context: Context): Promise<readonly Section[]> {
  const count = context.sizes.restartCount;
  const label = `${count.toLocaleString('en').replaceAll(',', ' ')} timers`;
  context.tell(`${label} …`);
  const { values, note } = await measure(context).catch(failed);
  return [
    {
      id: 'restart-large',
      title: 'W8 · Restart with more timers',
      what: `One member with ${label}, killed with SIGKILL and started again.`,
      columns,
      rows: [rowOf({ name: 'restart-large', label, kind: 'ours' }, columns, values, note)],
      headline: null,
      charts: [],
      notes: [],
    },
  ];
}

function measure({ sizes }: Context): Promise<Measured> {
  return withSession(largeMember, async (session) => {
    const { running } = session;
    await session.run({ call: 'setMany', count: sizes.restartCount });
    await session.closeClient();
    const beforeBytes = await session.restingBytes(sizes.footprint.settleMs);
    const restartSeconds = (await running.restart?.()) ?? Number.NaN;
    const lost = sizes.restartCount - (await running.pending());
    const afterBytes = await session.restingBytes(sizes.footprint.settleMs);
    return { values: { restartSeconds, lost, memoryRatio: afterBytes / beforeBytes } };
  });
}
