/** Rows beside the one of Carillon's own library: the same calls made in other ways. */
import type { CarillonWay } from '../load/setter.ts';
import type { Column, Row } from '../page/section.ts';
import type { System } from '../systems/system.ts';
import { withSetter } from '../systems/with-setter.ts';
import { type Context, failed, type Measured, rowOf } from './workload.ts';

const ways: readonly { readonly kind: CarillonWay; readonly label: string }[] = [
  { kind: 'carillon', label: 'Carillon, pipelined HTTP on four connections' },
  { kind: 'carillon-apart', label: 'Carillon, plain HTTP, a connection for each call' },
  { kind: 'carillon-fetch', label: 'Carillon, plain HTTP by fetch' },
];

/** Of a member that is synced to disk; none when it was not asked for. */
export async function otherWays(
  context: Context,
  columns: readonly Column[],
  measure: (system: Pick<System, 'start'>) => Promise<Measured>,
): Promise<Row[]> {
  const member = context.systems.find(({ name }) => name === 'carillon');
  if (member === undefined) return [];
  const rows: Row[] = [];
  for (const { kind, label } of ways.slice(0, context.sizes.sets.wayCount)) {
    context.tell(`${label} …`);
    const { values, note } = await measure(withSetter(member, { kind })).catch(failed);
    rows.push(rowOf({ name: `way-${kind}`, label, kind: 'ours' }, columns, values, note));
  }
  return rows;
}
