/**
 * A table in the pool that each zone contributes to: where a row lives and why, its slots, and the copies that a
 * further zone would take.
 */
import { PlacementError } from '@carillon/placement';
import { useMemo, useState } from 'preact/hooks';
import { Panel, Wrong } from '../../parts/parts.tsx';
import { GrowthView } from './growth.tsx';
import {
  askGrowth,
  askRow,
  firstQuestion,
  tableOfRow,
  type TableQuestion,
  type Way,
} from './question.ts';
import { Places, Slots, Steps } from './row.tsx';

type NumberField = {
  [K in keyof TableQuestion]: TableQuestion[K] extends number ? K : never;
}[keyof TableQuestion];

const fields: readonly (readonly [NumberField, string, number])[] = [
  ['regions', 'Regions', 4],
  ['zones', 'Zones', 8],
  ['machines', 'Machines', 64],
  ['disks', 'Disks', 32],
  ['namespaces', 'Namespaces', 64],
  ['queues', 'Queues', 1024],
  ['partitions', 'Partitions', 64],
  ['replicas', 'Replicas', 16],
];

const ways: readonly (readonly [Way, string])[] = [
  ['bits', 'virtual tree, stripe from one hash'],
  ['rounds', 'virtual tree, a round for each fan-out'],
  ['pool', 'tree of the pool'],
];

export function Table() {
  const [question, setQuestion] = useState(firstQuestion);
  const change = (part: Partial<TableQuestion>): void => setQuestion({ ...question, ...part });
  const row = useMemo(() => orSentence(() => askRow(question)), [question]);
  // All rows of a table grow alike, so that typing another key costs little.
  const table = orSentence(() => tableOfRow(question.key));
  const growth = useMemo(
    () => orSentence(() => askGrowth(question)),
    [JSON.stringify({ ...question, key: table })],
  );
  return (
    <Panel
      title="A table in a pool of disks"
      note="zones of each region, machines of each zone, disks of each machine; no timers live there"
    >
      <Sizes question={question} change={change} />
      <Lookup question={question} change={change} />
      {typeof row === 'string' ? (
        <Wrong says={row} />
      ) : (
        <>
          <Places answer={row} />
          <Steps answer={row} />
          <Slots answer={row} />
        </>
      )}
      {typeof growth === 'string' ? null : <GrowthView growth={growth} zones={question.zones} />}
    </Panel>
  );
}

/** The answer, or the sentence that says why there is none. */
function orSentence<T>(ask: () => T): T | string {
  try {
    return ask();
  } catch (error) {
    if (error instanceof PlacementError) return error.message;
    throw error;
  }
}

interface PartProps {
  readonly question: TableQuestion;
  readonly change: (part: Partial<TableQuestion>) => void;
}

function Sizes({ question, change }: PartProps) {
  return (
    <div class="tools sizes">
      {fields.map(([name, title, max]) => (
        <label key={name} class="field short">
          <span>{title}</span>
          <input
            type="number"
            name={name}
            min={1}
            max={max}
            value={question[name]}
            onInput={(event) => change({ [name]: within(event.currentTarget.value, max) })}
          />
        </label>
      ))}
    </div>
  );
}

function Lookup({ question, change }: PartProps) {
  const regions = Array.from({ length: question.regions }, (_, i) => `r${i}`);
  return (
    <div class="tools">
      <label class="field grow">
        <span>Row: account/table/type/key</span>
        <input
          type="text"
          name="row"
          value={question.key}
          onInput={(event) => change({ key: event.currentTarget.value })}
          autocomplete="off"
          spellcheck={false}
        />
      </label>
      <label class="field short">
        <span>In region</span>
        <select
          name="region"
          value={question.region}
          onChange={(event) => change({ region: event.currentTarget.value })}
        >
          {regions.map((region) => (
            <option key={region} value={region}>
              {region}
            </option>
          ))}
        </select>
      </label>
      <label class="field">
        <span>Looked up in</span>
        <select
          name="way"
          value={question.way}
          onChange={(event) => change({ way: event.currentTarget.value as Way })}
        >
          {ways.map(([way, title]) => (
            <option key={way} value={way}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {question.way === 'rounds' ? (
        <label class="field">
          <span>Fan-outs</span>
          <input
            type="text"
            name="fan-outs"
            value={question.fanOuts}
            onInput={(event) => change({ fanOuts: event.currentTarget.value })}
          />
        </label>
      ) : null}
      <label class="tick">
        <input
          type="checkbox"
          name="new-account"
          checked={question.isNewAccount}
          onChange={(event) => change({ isNewAccount: event.currentTarget.checked })}
        />
        <span>a new account: it sees the next zone</span>
      </label>
    </div>
  );
}

function within(text: string, max: number): number {
  const value = Number(text);
  return Number.isInteger(value) ? Math.min(max, Math.max(1, value)) : 1;
}
