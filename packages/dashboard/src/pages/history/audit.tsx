/** Changes of all timers, the newest first, with the tokens that asked for them. */
import { useState } from 'preact/hooks';
import { eraseAnswers, getAudit } from '../../api.ts';
import { counted, instant } from '../../format.ts';
import { nowMs } from '../../live.ts';
import { useLoaded } from '../../loaded.ts';
import { addressTrail, Pager } from '../../pages.tsx';
import {
  Action,
  Empty,
  type Head,
  Loading,
  Missing,
  Panel,
  Table,
  Wrong,
} from '../../parts/parts.tsx';
import { go, route } from '../../route.ts';
import { mayWrite, presentNamespace } from '../../session.ts';
import {
  actions,
  actionText,
  type AuditRow,
  auditRows,
  countedName,
  isOfTimer,
  toneOf,
} from './words.ts';

const pageLength = 1000;
const hourMs = 3_600_000;
const ranges: readonly (readonly [string, string])[] = [
  ['', 'All'],
  ['1', 'Last hour'],
  ['24', 'Last day'],
];

interface Filter {
  readonly actor: string;
  readonly action: string;
  /** In hours; empty: all. */
  readonly range: string;
}

export function Audit() {
  const { query } = route.value;
  const text = (name: string): string => query.get(name) ?? '';
  const filter = { actor: text('actor'), action: text('action'), range: text('range') };
  return (
    <>
      <div class="title">
        <h1>Audit</h1>
        <Erase />
      </div>
      <div class="tools">
        <FilterForm filter={filter} />
        <nav class="choice" aria-label="Time">
          {ranges.map(([range, title]) => (
            <a
              key={range}
              href={address({ ...filter, range })}
              aria-current={range === filter.range ? 'true' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      <Pages key={JSON.stringify(filter)} filter={filter} />
    </>
  );
}

/** Answers may hold personal data: they can go without the attempts that they belong to. */
function Erase() {
  const [said, setSaid] = useState('');
  if (!mayWrite.value) return null;
  const name = presentNamespace.value;
  const run = async (): Promise<void> => {
    const missing = await eraseAnswers();
    setSaid(
      missing.length === 0
        ? 'The stored answers are erased.'
        : `${missing.join(', ')} did not answer and may still have some: try again.`,
    );
  };
  return (
    <div class="actions wrap">
      <span role="status">{said}</span>
      <Action
        label="Erase stored answers"
        confirm={`Really erase what receivers of ${name} answered`}
        run={run}
      />
    </div>
  );
}

function address(filter: Filter, at = ''): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ ...filter, at })) {
    if (value !== '') query.set(name, value);
  }
  return `#/audit${query.size === 0 ? '' : `?${query.toString()}`}`;
}

function FilterForm({ filter }: { readonly filter: Filter }) {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const { elements } = event.currentTarget as HTMLFormElement;
    const valueOf = (name: string): string =>
      (elements.namedItem(name) as HTMLInputElement).value.trim();
    go(address({ ...filter, actor: valueOf('actor'), action: valueOf('action') }));
  };
  return (
    <form class="search" role="search" onSubmit={submit}>
      <input
        key={filter.actor}
        name="actor"
        type="search"
        defaultValue={filter.actor}
        placeholder="Name of a token"
        aria-label="Name of a token"
        autocomplete="off"
        spellcheck={false}
      />
      <select name="action" aria-label="Change" defaultValue={filter.action}>
        <option value="">All changes</option>
        {actions.map((action) => (
          <option key={action} value={action} selected={action === filter.action}>
            {actionText(action)}
          </option>
        ))}
      </select>
      <button class="button" type="submit">
        Filter
      </button>
    </form>
  );
}

function Pages({ filter }: { readonly filter: Filter }) {
  const { actor, action, range } = filter;
  const trail = addressTrail(route.value.query, (at) => address(filter, at));
  const { cursor } = trail;
  const since = (): string =>
    range === '' ? '' : new Date(nowMs.value - Number(range) * hourMs).toISOString();
  const load = () => getAudit({ actor, action, since: since(), limit: pageLength, cursor });
  const { data, error } = useLoaded(String(cursor), load, 3000);
  if (data === undefined) return error === null ? <Loading /> : <Wrong says={error} />;
  return (
    <Panel title="Changes" note={`page ${trail.page}, the newest first`}>
      <Wrong says={error} />
      <Missing names={data.missing} of="changes" />
      {data.items.length === 0 ? (
        <Empty title="Members remember no such change">
          <a href="#/audit">Show all changes</a>.
        </Empty>
      ) : (
        <Rows rows={auditRows(data.items, action !== '')} />
      )}
      <Pager trail={trail} next={data.cursor} />
    </Panel>
  );
}

const heads: readonly Head[] = ['When', 'Change', 'Token', 'Timer', 'Tag', 'Member'];

function Rows({ rows }: { readonly rows: readonly AuditRow[] }) {
  return (
    <Table heads={heads}>
      {rows.map(({ first, count, members }, i) => (
        <tr key={`${first.at} ${first.timer} ${i}`} data-change={first.action}>
          <td class="number">{instant(first.at)}</td>
          <td>
            <span class={`badge ${toneOf(first)}`}>{actionText(first.action)}</span>
          </td>
          <td>{first.actor === null ? <span class="dim">none</span> : <bdi>{first.actor}</bdi>}</td>
          <td>
            <Timers first={first} count={count} />
          </td>
          <td>{first.tag === null ? null : <bdi class="tag">{first.tag}</bdi>}</td>
          <td>{members.join(', ')}</td>
        </tr>
      ))}
    </Table>
  );
}

function Timers({ first, count }: Pick<AuditRow, 'first' | 'count'>) {
  if (!isOfTimer(first)) return <span class="dim">–</span>;
  if (count > 1) return <span>{counted(count, countedName(first))}</span>;
  return (
    <a class="mono" href={`#/timers/${first.timer}`}>
      {first.timer}
    </a>
  );
}
