/** The heap of a caller of `@carillon/client` after every million sets: it must not grow. */
import type { Column, Row, Section } from '../page/section.ts';
import { largeMember } from '../systems/carillon.ts';
import { withSetter } from '../systems/with-setter.ts';
import { withSession } from './session.ts';
import type { Context } from './workload.ts';

const columns: readonly Column[] = [
  { key: 'heapBytes', title: 'heap after collecting', unit: 'bytes', better: 'less' },
  { key: 'perSecond', title: 'sets', unit: 'perSecond', better: 'more' },
  { key: 'clientMicros', title: 'CPU of the client a set', unit: 'micros', better: 'less' },
];

export async function clientHeap({ sizes, tell }: Context): Promise<readonly Section[]> {
  const { stepCount, setCount } = sizes.clientHeap;
  const system = withSetter(largeMember, { kind: 'carillon-client' });
  const rows = await withSession(system, async (session) => {
    const measured: Row[] = [];
    for (let step = 0; step < stepCount; step++) {
      const count = (step + 1) * setCount;
      tell(`${count} sets …`);
      const firstIndex = step * setCount;
      const timed = await session.run({ call: 'set', count: setCount, firstIndex });
      const values = {
        heapBytes: await session.clientHeapBytes(),
        perSecond: timed.count / timed.seconds,
        clientMicros: (timed.cpuMs * 1000) / timed.count,
      };
      const label = `after ${count.toLocaleString('en').replaceAll(',', ' ')} sets`;
      measured.push({ name: `heap-${count}`, label, kind: 'ours', values });
    }
    return measured;
  });
  return [
    {
      id: 'client-heap',
      title: 'The heap of a caller',
      what: 'Sets through `@carillon/client`, 64 in flight; the heap of its process after all garbage was collected.',
      columns,
      rows,
      headline: null,
      charts: [],
      notes: [],
    },
  ];
}
