/** The timers of the whole cluster: search by id and tag, filter by state, page by page. */
import { useState } from 'preact/hooks';
import { parseLooseTimerId } from '@carillon/core';
import { getTimer, listTimers } from '../api.ts';
import { useLoaded } from '../loaded.ts';
import { Empty, Loading, Panel, Wrong } from '../parts/parts.tsx';
import { addressTrail, Pager } from '../pages.tsx';
import { go, route } from '../route.ts';
import { mayWrite } from '../session.ts';
import type { PageShape, TimerShape } from '../parts/shapes.ts';
import { TimerTable } from '../parts/timer-table.tsx';

const states: readonly (readonly [string, string])[] = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['retrying', 'Retrying'],
];
const pageLength = 50;

export function Timers() {
  const { query } = route.value;
  const tag = query.get('tag') ?? '';
  const state = query.get('state') ?? '';
  return (
    <>
      <div class="title">
        <h1>Timers</h1>
        {mayWrite.value ? (
          <a class="button primary" href="#/timers/new">
            Set a timer
          </a>
        ) : null}
      </div>
      <div class="tools">
        <Search tag={tag} state={state} />
        <nav class="choice" aria-label="State">
          {states.map(([value, title]) => (
            <a
              key={value}
              href={address(tag, value)}
              aria-current={value === state ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      <Pages key={`${tag} ${state}`} tag={tag} state={state} />
    </>
  );
}

function address(tag: string, state: string, at = ''): string {
  const query = new URLSearchParams();
  if (tag !== '') query.set('tag', tag);
  if (state !== '') query.set('state', state);
  if (at !== '') query.set('at', at);
  return `#/timers${query.size === 0 ? '' : `?${query.toString()}`}`;
}

function Search({ tag, state }: { readonly tag: string; readonly state: string }) {
  const [error, setError] = useState<string | null>(null);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = (form.elements.namedItem('search') as HTMLInputElement).value.trim();
    setError(null);
    if (parseLooseTimerId(text.toLowerCase()) === null) return go(address(text, state));
    try {
      const timer = await getTimer(text.toLowerCase());
      if (timer !== null) go(`#/timers/${timer.id}`);
      else setError('No live timer has this id; it may have ended.');
    } catch (cause) {
      setError(cause instanceof Error ? cause.message : String(cause));
    }
  };
  return (
    <form class="search" role="search" onSubmit={(event) => void submit(event)}>
      <input
        key={tag}
        name="search"
        type="search"
        defaultValue={tag}
        placeholder="Timer id or tag"
        aria-label="Timer id or tag"
        autocomplete="off"
        spellcheck={false}
      />
      <button class="button" type="submit">
        Search
      </button>
      <Wrong says={error} />
    </form>
  );
}

function Pages({ tag, state }: { readonly tag: string; readonly state: string }) {
  const trail = addressTrail(route.value.query, (at) => address(tag, state, at));
  const { cursor } = trail;
  const load = (): Promise<PageShape<TimerShape>> =>
    listTimers({ tag, state, limit: pageLength, cursor });
  const { data, error } = useLoaded(`${tag} ${state} ${cursor}`, load, 2000);
  if (data === undefined) return error === null ? <Loading /> : <Wrong says={error} />;
  return (
    <Panel title={tag === '' ? 'Timers' : `Tagged “${tag}”`} note={`page ${trail.page}`}>
      <Wrong says={error} />
      {data.missing.length === 0 ? null : (
        <p class="note">{data.missing.join(', ')} did not answer; timers may be missing here.</p>
      )}
      {data.items.length === 0 ? (
        <Nothing tag={tag} state={state} more={data.cursor !== null} />
      ) : (
        <TimerTable timers={data.items} />
      )}
      <Pager trail={trail} next={data.cursor} />
    </Panel>
  );
}

function Nothing(props: { readonly tag: string; readonly state: string; readonly more: boolean }) {
  const { tag, state, more } = props;
  if (more) return <p class="dim">None among those looked at so far; Next goes on.</p>;
  if (tag === '' && state === '') {
    return (
      <Empty title="No timer is waiting">
        <a href="#/timers/new">Set one</a> and watch it pop.
      </Empty>
    );
  }
  return (
    <Empty title="Nothing fits">
      <a href="#/timers">Show all timers</a>.
    </Empty>
  );
}
