/** The input of every workload, and its result. */
import type { Sizes } from '../sizes.ts';
import type { Column, Row, Section } from '../page/section.ts';
import type { System } from '../systems/system.ts';

export interface Context {
  /** The systems that can run here and were asked for. */
  readonly systems: readonly System[];
  readonly sizes: Sizes;
  /** One line of progress. */
  readonly tell: (line: string) => void;
}

/** Nothing is sent when they set a timer, so their rates would hide all others in a picture. */
export const inProcess = ['settimeout', 'heap'] as const;

export type Workload = (context: Context) => Promise<readonly Section[]>;

/** Each system in turn. One that fails is named with its reason, and the others go on. */
export async function rowsOf(
  { systems, tell }: Context,
  columns: readonly Column[],
  measure: (system: System) => Promise<Measured>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const system of systems) {
    tell(`${system.label} …`);
    const { values, note } = await measure(system).catch(failed);
    rows.push(rowOf(system, columns, values, note));
  }
  return rows;
}

export interface Measured {
  readonly values: Readonly<Record<string, number | null>>;
  readonly note?: string | undefined;
}

export function failed(error: unknown): Measured {
  const reason = error instanceof Error ? error.message : String(error);
  console.error(error);
  return { values: {}, note: `failed: ${reason.split('\n', 1)[0]}` };
}

export function rowOf(
  { name, label, kind }: Pick<System, 'label' | 'kind'> & { readonly name: string },
  columns: readonly Column[],
  values: Readonly<Record<string, number | null>>,
  note: string | undefined,
): Row {
  const all = Object.fromEntries(columns.map(({ key }) => [key, values[key] ?? null]));
  return { name, label, kind, values: all, ...(note === undefined ? {} : { note }) };
}
