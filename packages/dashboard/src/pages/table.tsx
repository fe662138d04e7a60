/** A table in the pool that each zone contributes to: where a row lives, and the copies that a further zone would take. */
import { PlacementError } from '@carillon/placement';
import { useMemo, useState } from 'preact/hooks';
import { askTable, tableKeys, type TableAnswer, type TableQuestion } from '../parts/tables.ts';
import { count, percent } from '../format.ts';
import { Panel, Share, Wrong } from '../parts/parts.tsx';

const first: TableQuestion = {
  key: 'acme/orders/row/4711',
  zones: 2,
  machines: 32,
  disks: 16,
  partitions: 16,
  replicas: 6,
};

type NumberField = Exclude<keyof TableQuestion, 'key'>;

const fields: readonly (readonly [NumberField, string, number])[] = [
  ['zones', 'Zones', 8],
  ['machines', 'Machines', 64],
  ['disks', 'Disks', 32],
  ['partitions', 'Partitions', 64],
  ['replicas', 'Replicas', 16],
];

export function Table() {
  const [question, setQuestion] = useState(first);
  const answer = useMemo(() => {
    try {
      return askTable(question);
    } catch (error) {
      if (error instanceof PlacementError) return error.message;
      throw error;
    }
  }, [question]);
  return (
    <Panel
      title="A table in a pool of disks"
      note="machines of each zone, disks of each machine; no timers live there"
    >
      <div class="tools">
        <label class="field grow">
          <span>Row: account/table/type/key</span>
          <input
            type="text"
            name="row"
            value={question.key}
            onInput={(event) => setQuestion({ ...question, key: event.currentTarget.value })}
            autocomplete="off"
            spellcheck={false}
          />
        </label>
        {fields.map(([name, title, max]) => (
          <label key={name} class="field short">
            <span>{title}</span>
            <input
              type="number"
              name={name}
              min={1}
              max={max}
              value={question[name]}
              onInput={(event) =>
                setQuestion({ ...question, [name]: within(event.currentTarget.value, max) })
              }
            />
          </label>
        ))}
      </div>
      {typeof answer === 'string' ? (
        <Wrong says={answer} />
      ) : (
        <Answer answer={answer} zones={question.zones} />
      )}
    </Panel>
  );
}

function Answer({ answer, zones }: { readonly answer: TableAnswer; readonly zones: number }) {
  const { places, steps, growth, evenMinimum, shares } = answer;
  return (
    <>
      <ol class="ranked">
        {places.map(({ path }, i) => (
          <li key={path}>
            <span class="position">{i + 1}</span>
            <span>{path}</span>
            <span class="dim">{i === 0 ? 'primary' : `backup ${i}`}</span>
          </li>
        ))}
      </ol>
      <p class="dim">
        Found in {steps.length} steps: in each zone one hash for the stripe, then one round over the
        machines of the pool.
      </p>
      <h3>When zone {zones + 1} comes</h3>
      <p class="verdict">
        <strong>{percent(growth.moved / growth.copies)}</strong> of the copies of this table would
        move; these loads need at least {percent(growth.minimum / growth.copies)}, exact shares{' '}
        {percent(evenMinimum / growth.copies)}.
      </p>
      <table>
        <thead>
          <tr>
            <th>Zone</th>
            <th class="number">Today</th>
            <th>Then</th>
          </tr>
        </thead>
        <tbody>
          {shares.map(({ zone, before, after }) => (
            <tr key={zone}>
              <td>{zone}</td>
              <td class="number">{percent(before)}</td>
              <td>
                <Share ratio={after} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="note">
        Computed over {count(tableKeys)} keys. The pool keeps the width that it was made with for{' '}
        {count(zones)} zones, and grows by the new one.
      </p>
    </>
  );
}

function within(text: string, max: number): number {
  const value = Number(text);
  return Number.isInteger(value) ? Math.min(max, Math.max(1, value)) : 1;
}
