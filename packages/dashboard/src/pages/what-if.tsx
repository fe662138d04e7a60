/** Keys that would move if members came or went: chosen by hand, computed over a sample of keys, drawn as flows. */
import { PlacementError } from '@carillon/placement';
import { useMemo, useState } from 'preact/hooks';
import type { Placed } from '../parts/cluster/domains.ts';
import { type Movement, movement, parseMember, sampleKeys } from '../parts/cluster/explorer.ts';
import { outline, picture, type Ribbon } from '../parts/cluster/flows.ts';
import { count, percent } from '../format.ts';
import { Panel, Wrong } from '../parts/parts.tsx';

interface WhatIfProps {
  readonly members: readonly Placed[];
  readonly replicas: number;
}

export function WhatIf({ members, replicas }: WhatIfProps) {
  const [removed, setRemoved] = useState<ReadonlySet<string>>(new Set());
  const [added, setAdded] = useState<readonly Placed[]>([]);
  const known = [...members, ...added].map(({ name }) => name);
  const toggle = (name: string): void => {
    const next = new Set(removed);
    if (!next.delete(name)) next.add(name);
    setRemoved(next);
  };
  return (
    <Panel title="What if?" note="nothing here changes the cluster">
      <div class="tools">
        <div class="chips" role="group" aria-label="Members in the what-if">
          {members.map(({ name }) => (
            <button
              key={name}
              type="button"
              class={`chip ${removed.has(name) ? 'gone' : ''}`}
              aria-pressed={removed.has(name)}
              onClick={() => toggle(name)}
            >
              {name} <span class="dim">{removed.has(name) ? 'put back' : 'remove'}</span>
            </button>
          ))}
          {added.map(({ name }) => (
            <button
              key={name}
              type="button"
              class="chip new"
              onClick={() => setAdded(added.filter((one) => one.name !== name))}
            >
              {name} <span class="dim">added, undo</span>
            </button>
          ))}
        </div>
        <AddMember known={known} add={(member) => setAdded([...added, member])} />
      </div>
      <Result members={members} replicas={replicas} removed={removed} added={added} />
    </Panel>
  );
}

function AddMember(props: {
  readonly known: readonly string[];
  readonly add: (member: Placed) => void;
}) {
  const [text, setText] = useState('');
  const [error, setError] = useState<string | null>(null);
  const submit = (event: Event): void => {
    event.preventDefault();
    try {
      props.add(parseMember(text, props.known));
      setText('');
      setError(null);
    } catch (cause) {
      setError(cause instanceof PlacementError ? cause.message : String(cause));
    }
  };
  return (
    <form class="search" onSubmit={submit}>
      <input
        type="text"
        name="member"
        value={text}
        placeholder="n4 zone=b"
        aria-label="A member to add, with labels"
        onInput={(event) => setText(event.currentTarget.value)}
        autocomplete="off"
        spellcheck={false}
      />
      <button type="submit" class="button">
        Add a member
      </button>
      <Wrong says={error} />
    </form>
  );
}

interface ResultProps extends WhatIfProps {
  readonly removed: ReadonlySet<string>;
  readonly added: readonly Placed[];
}

function Result({ members, replicas, removed, added }: ResultProps) {
  const result = useMemo(() => {
    try {
      return movement(members, { removed, added }, replicas);
    } catch (error) {
      if (error instanceof PlacementError) return error.message;
      throw error;
    }
  }, [members, replicas, removed, added]);
  if (result === null) return <p class="dim">No member would be left to hold anything.</p>;
  if (typeof result === 'string') return <Wrong says={result} />;
  if (removed.size === 0 && added.length === 0) {
    return <p class="dim">Remove or add a member to see what would move.</p>;
  }
  const { moved, minimum, evenMinimum, copies, copiesLost } = result;
  const share = (part: number): string => percent(part / Math.max(1, copies));
  return (
    <>
      <p class="verdict">
        <strong>{share(moved)}</strong> of all copies would move; these loads need at least{' '}
        {share(minimum)}, exact shares {share(evenMinimum)}.
        {copiesLost > 0
          ? ' There would be fewer copies than wanted: too few members are left.'
          : ''}
      </p>
      <Flows result={result} />
      <p class="note">
        Computed over {count(sampleKeys)} keys with {replicas} replicas each. Grey stays, colour
        moves.
      </p>
    </>
  );
}

const width = 720;
const fromX = 120;
const toX = 600;
const barWidth = 12;

function Flows({ result }: { readonly result: Movement }) {
  const height = Math.max(160, result.names.length * 44);
  const { left, right, ribbons } = picture(result, height);
  const all = Math.max(1, result.copies);
  return (
    <svg
      class="flows"
      viewBox={`0 -22 ${width} ${height + 26}`}
      role="img"
      aria-label="What would move from which member to which"
    >
      <text class="head" x={fromX} y={-8} text-anchor="end">
        today
      </text>
      <text class="head" x={toX} y={-8}>
        then
      </text>
      {ribbons.map((ribbon) => (
        <path
          key={`${ribbon.from} ${ribbon.to}`}
          class={ribbon.moved ? 'moved' : 'stays'}
          d={outline(ribbon, fromX + barWidth, toX - barWidth)}
        >
          <title>{ribbonText(ribbon, all)}</title>
        </path>
      ))}
      {left.map(({ name, y, height: size, copies }) => (
        <g key={name}>
          <rect class="pillar" x={fromX} y={y} width={barWidth} height={size} rx="2" />
          <text x={fromX - 10} y={y + size / 2} text-anchor="end" dominant-baseline="middle">
            {name} <tspan class="dim">{percent(copies / all)}</tspan>
          </text>
        </g>
      ))}
      {right.map(({ name, y, height: size, copies }) => (
        <g key={name}>
          <rect class="pillar" x={toX - barWidth} y={y} width={barWidth} height={size} rx="2" />
          <text x={toX + 10} y={y + size / 2} dominant-baseline="middle">
            {name} <tspan class="dim">{percent(copies / all)}</tspan>
          </text>
        </g>
      ))}
    </svg>
  );
}

function ribbonText({ from, to, copies, moved }: Ribbon, all: number): string {
  return moved
    ? `${percent(copies / all)} from ${from} to ${to}`
    : `${percent(copies / all)} stays at ${from}`;
}
