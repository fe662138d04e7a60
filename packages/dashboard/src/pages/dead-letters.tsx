/**
 * Pops that were given up: how many for which receiver and why, each of them, and buttons to send them again or to drop
 * them.
 */
import { useState } from 'preact/hooks';
import {
  deadLetterIds,
  discard,
  getDeadLetter,
  type LetterQuery,
  listDeadLetters,
  redeliver,
  summarizeDeadLetters,
} from '../api.ts';
import { count, instant } from '../format.ts';
import { useLoaded } from '../loaded.ts';
import { addressTrail, Pager } from '../pages.tsx';
import { listNote, newestFirst } from '../parts/timers/letter-order.ts';
import { Letter } from '../parts/timers/letter.tsx';
import { Many } from '../parts/timers/many-actions.tsx';
import { Empty, Loading, Missing, Panel, Wrong } from '../parts/parts.tsx';
import { route } from '../route.ts';
import { mayWrite } from '../session.ts';
import type { LetterSummaryShape } from '../parts/shapes.ts';

export function DeadLetters() {
  const { part, query } = route.value;
  const filter = { receiver: query.get('receiver') ?? '', failure: query.get('failure') ?? '' };
  return (
    <>
      <h1>Dead letters</h1>
      <p class="lead">
        Pops that no receiver took in time. Nothing is lost: deliver them again once the receiver is
        well, or drop them.
      </p>
      {part === '' ? (
        <All key={`${filter.receiver} ${filter.failure}`} filter={filter} />
      ) : (
        <One key={part} id={part} />
      )}
    </>
  );
}

function address({ receiver, failure }: LetterQuery, at = ''): string {
  const query = new URLSearchParams();
  if (receiver !== '') query.set('receiver', receiver);
  if (failure !== '') query.set('failure', failure);
  if (at !== '') query.set('at', at);
  return `#/dead-letters${query.size === 0 ? '' : `?${query.toString()}`}`;
}

function One({ id }: { readonly id: string }) {
  const { data, error, again } = useLoaded(`letter ${id}`, () => getDeadLetter(id), 3000);
  if (data === undefined) return error === null ? <Loading /> : <Wrong says={error} />;
  return (
    <Panel title="One dead letter" note={<a href="#/dead-letters">See all</a>}>
      <Wrong says={error} />
      {data === null ? (
        <Empty title="It is no longer here">It was sent again, or dropped.</Empty>
      ) : (
        <ul class="letters">
          <Letter letter={data} again={again} whole />
        </ul>
      )}
    </Panel>
  );
}

function All({ filter }: { readonly filter: LetterQuery }) {
  const every = { receiver: '', failure: '' };
  const summary = useLoaded('letters', () => summarizeDeadLetters(every), 3000);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const trail = addressTrail(route.value.query, (at) => address(filter, at));
  const { cursor } = trail;
  const list = useLoaded(`dead ${cursor}`, () => listDeadLetters(filter, cursor), 3000);
  const again = (): void => {
    list.again();
    summary.again();
  };
  const choose = (ids: readonly string[], isChosen: boolean): void =>
    setChosen((known) => {
      const next = new Set(known);
      for (const id of ids)
        if (isChosen) next.add(id);
        else next.delete(id);
      return next;
    });
  const total = matching(summary.data, filter);
  const { data, error } = list;
  const letters = newestFirst(data?.items ?? []);
  const here = letters.map(({ id }) => id);
  return (
    <>
      <Wrong says={error ?? summary.error} />
      {data === undefined && error === null ? <Loading /> : null}
      <Groups summary={summary.data} filter={filter} />
      {data === undefined ? null : (
        <Panel title="Given up" note={listNote(total, trail.page === 1 && data.cursor === null)}>
          <Missing names={[...data.missing, ...(summary.data?.missing ?? [])]} of="letters" />
          {mayWrite.value ? (
            <Many
              here={here}
              chosen={chosen}
              total={total}
              choose={choose}
              all={() => deadLetterIds(filter)}
              deliver={redeliver}
              drop={discard}
              ended={() => {
                setChosen(new Set());
                again();
              }}
            />
          ) : null}
          {here.length === 0 && data.cursor === null ? <Nothing filter={filter} /> : null}
          <ul class="letters">
            {letters.map((letter) => (
              <Letter
                key={letter.id}
                letter={letter}
                again={again}
                chosen={chosen.has(letter.id)}
                choose={(isChosen) => choose([letter.id], isChosen)}
              />
            ))}
          </ul>
          <Pager trail={trail} next={data.cursor} />
        </Panel>
      )}
    </>
  );
}

/** How many letters match, from the counts of all; null: not known yet. */
function matching(
  summary: LetterSummaryShape | undefined,
  { receiver, failure }: LetterQuery,
): number | null {
  if (summary === undefined) return null;
  return summary.groups
    .filter((group) => receiver === '' || group.receiver === receiver)
    .filter((group) => failure === '' || group.failure === failure)
    .reduce((sum, group) => sum + group.count, 0);
}

function Groups(props: {
  readonly summary: LetterSummaryShape | undefined;
  readonly filter: LetterQuery;
}) {
  const { summary, filter } = props;
  if (summary === undefined || summary.total === 0) return null;
  const isFiltered = filter.receiver !== '' || filter.failure !== '';
  return (
    <Panel
      title="By receiver and reason"
      note={isFiltered ? <a href="#/dead-letters">Show all {count(summary.total)}</a> : null}
    >
      <ul class="groups">
        {summary.groups.map(({ receiver, failure, count: many, newest }) => (
          <li key={`${receiver} ${failure}`}>
            <a
              href={address({ receiver, failure })}
              aria-current={
                receiver === filter.receiver && failure === filter.failure ? 'true' : undefined
              }
            >
              <strong class="number">{count(many)}</strong>
              <span class="badge bad">{failure === '' ? 'none' : failure}</span>
              <bdi class="break">{receiver === '' ? 'further receivers' : receiver}</bdi>
              <span class="note">last {instant(newest)}</span>
            </a>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Nothing({ filter }: { readonly filter: LetterQuery }) {
  if (filter.receiver === '' && filter.failure === '') {
    return (
      <Empty title="There are none">Every pop so far was delivered, or is still being tried.</Empty>
    );
  }
  return (
    <Empty title="None of these is left">
      <a href="#/dead-letters">Show all dead letters</a>.
    </Empty>
  );
}
