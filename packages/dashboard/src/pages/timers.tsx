/**
 * The timers of the whole cluster: the next ones first; search by id, tag and receiver, by state and due time, page by
 * page.
 */
import { parseLooseTimerId } from '@carillon/core';
import { countTimers, findTimers } from '../api.ts';
import { count } from '../format.ts';
import { useLoaded } from '../loaded.ts';
import { Empty, Loading, Missing, Panel, Wrong } from '../parts/parts.tsx';
import { addressTrail, Pager } from '../pages.tsx';
import { go, route } from '../route.ts';
import { mayWrite } from '../session.ts';
import type { PageShape, TimerShape } from '../parts/shapes.ts';
import {
  addressOf,
  filterOf,
  instantOf,
  isFiltered,
  localOf,
  parametersOf,
  type TimerFilter,
} from '../parts/timers/timer-filter.ts';
import { TimerTable } from '../parts/timers/timer-table.tsx';

const states: readonly (readonly [string, string])[] = [
  ['', 'All'],
  ['pending', 'Pending'],
  ['retrying', 'Retrying'],
  ['failing', 'Failing'],
];
const orders: readonly (readonly [string, string])[] = [
  ['', 'Next first'],
  ['any', 'Any order'],
];
const pageLength = 50;

interface FilterProps {
  readonly filter: TimerFilter;
}

export function Timers() {
  const filter = filterOf(route.value.query);
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
        <Search filter={filter} />
        <Choice name="State" filter={filter} field="state" values={states} />
        <Choice name="Order" filter={filter} field="order" values={orders} />
        <Range filter={filter} />
      </div>
      <Pages key={addressOf(filter)} filter={filter} />
    </>
  );
}

function Choice(props: {
  readonly name: string;
  readonly filter: TimerFilter;
  readonly field: 'state' | 'order';
  readonly values: readonly (readonly [string, string])[];
}) {
  const { name, filter, field, values } = props;
  return (
    <nav class="choice" aria-label={name}>
      {values.map(([value, title]) => (
        <a
          key={value}
          href={addressOf({ ...filter, [field]: value })}
          aria-current={value === filter[field] ? 'true' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

function Range({ filter }: FilterProps) {
  const ends = [
    ['from', 'Due from'],
    ['to', 'Due before'],
  ] as const;
  return (
    <div class="due-range">
      {ends.map(([end, title]) => (
        <label key={end} class="field due">
          <span>{title}</span>
          <input
            key={filter[end]}
            type="datetime-local"
            name={end}
            defaultValue={localOf(filter[end])}
            onChange={(event) =>
              go(addressOf({ ...filter, [end]: instantOf(event.currentTarget.value) }))
            }
          />
        </label>
      ))}
    </div>
  );
}

function Search({ filter }: FilterProps) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = (form.elements.namedItem('search') as HTMLInputElement).value.trim();
    const id = text.toLowerCase();
    // The page of a timer that has ended shows its end and its timeline.
    go(parseLooseTimerId(id) === null ? addressOf({ ...filter, search: text }) : `#/timers/${id}`);
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input
        key={filter.search}
        name="search"
        type="search"
        defaultValue={filter.search}
        placeholder="Timer id, tag, tag* or receiver"
        aria-label="Timer id, tag, beginning of a tag with a star, or URL of a receiver"
        autocomplete="off"
        spellcheck={false}
      />
      <button class="button" type="submit">
        Search
      </button>
    </form>
  );
}

function Pages({ filter }: FilterProps) {
  const trail = addressTrail(route.value.query, (at) => addressOf(filter, at));
  const { cursor } = trail;
  const parameters = parametersOf(filter);
  const load = (): Promise<PageShape<TimerShape>> => findTimers(parameters, pageLength, cursor);
  const { data, error } = useLoaded(`${parameters.toString()} ${cursor}`, load, 2000);
  // Counting the matches of a filter may take members half a second.
  const totalMs = isFiltered(filter) ? 15_000 : 2000;
  const total = useLoaded(`total ${parameters.toString()}`, () => countTimers(parameters), totalMs);
  if (data === undefined) return error === null ? <Loading /> : <Wrong says={error} />;
  return (
    <Panel title={titleOf(filter)} note={`page ${trail.page}${inAll(total.data)}`}>
      <Wrong says={error} />
      <Missing names={data.missing} of="timers" />
      {data.items.length === 0 ? (
        <Nothing filter={filter} more={data.cursor !== null} />
      ) : (
        <TimerTable timers={data.items} />
      )}
      <Pager trail={trail} next={data.cursor} />
    </Panel>
  );
}

function titleOf({ search }: TimerFilter): string {
  if (search === '') return 'Timers';
  if (/^https?:\/\//.test(search)) return `For ${search}`;
  return search.endsWith('*') ? `Tags from “${search.slice(0, -1)}”` : `Tagged “${search}”`;
}

function inAll(total: { readonly count: number; readonly exact: boolean } | undefined): string {
  if (total === undefined) return '';
  return ` · ${total.exact ? '' : 'about '}${count(total.count)} in all`;
}

function Nothing({ filter, more }: FilterProps & { readonly more: boolean }) {
  if (more) return <p class="dim">None among those looked at so far; Next goes on.</p>;
  if (!isFiltered(filter)) {
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
