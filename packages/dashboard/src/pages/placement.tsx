/** The placement explorer: where a key lives and why, and which keys would move if members came or went. */
import { useMemo, useState } from 'preact/hooks';
import { keyOf } from '../parts/cluster/explorer.ts';
import { type Placed, placedMembers } from '../parts/cluster/domains.ts';
import { Panel } from '../parts/parts.tsx';
import { presentNamespace } from '../session.ts';
import type { Snapshot } from '../parts/shapes.ts';
import { Table } from './tables/table.tsx';
import { Walk } from './walk.tsx';
import { WhatIf } from './what-if.tsx';

export function Placement({ now }: { readonly now: Snapshot }) {
  const [text, setText] = useState('order-4711');
  const [replicas, setReplicas] = useState(now.factor);
  const keyed = keyOf(text, presentNamespace.value);
  const active = placedMembers(now.cluster);
  const signature = JSON.stringify(
    active.map(({ name, weight, labels }) => [name, weight, labels]),
  );
  // The same array as long as the members stay the same, so that the memos that depend on it are computed once.
  const members: readonly Placed[] = useMemo(
    () => active.map(({ name, weight, labels }) => ({ name, weight, labels })),
    [signature],
  );
  return (
    <>
      <h1>Placement</h1>
      <p class="lead">
        Every member computes the same answer from the view alone; this page computes it too,
        without asking anybody.
      </p>
      <Panel title="Where does a key live?">
        <div class="tools">
          <label class="field grow">
            <span>Key, timer id or 16 hex digits</span>
            <input
              type="text"
              name="key"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
              autocomplete="off"
              spellcheck={false}
            />
          </label>
          <label class="field short">
            <span>Replicas</span>
            <input
              type="number"
              min={1}
              max={16}
              value={replicas}
              onInput={(event) => setReplicas(clamp(Number(event.currentTarget.value)))}
            />
          </label>
        </div>
        {keyed === null ? (
          <p class="dim">
            Only members know where an id of another namespace than default leads. If there is such
            a timer, <a href={`#/timers/${text.trim()}`}>its page</a> says which members hold it.
          </p>
        ) : (
          <Walk members={members} keyed={keyed} replicas={replicas} />
        )}
      </Panel>
      <WhatIf members={members} replicas={replicas} />
      <Table />
    </>
  );
}

function clamp(value: number): number {
  return Number.isInteger(value) ? Math.min(16, Math.max(1, value)) : 1;
}
