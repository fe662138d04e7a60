/** The life of a timer, the newest first: every attempt and change, from whichever member has it. */
import { useState } from 'preact/hooks';
import { getHistory } from '../../api.ts';
import { instant } from '../../format.ts';
import { useLoaded } from '../../loaded.ts';
import { Loading, Missing, Panel, Wrong } from '../../parts/parts.tsx';
import type { HistoryAttemptShape, HistoryEntryShape } from '../../parts/shapes.ts';
import { byText, measureText, titleOfEntry, toneOf } from './words.ts';

/** Entries at first, and how many times as many with each press of the button. */
const lengthFirst = 50;
const lengthFactor = 4;
const lengthMax = 1000;

export function Timeline({ id, note }: { readonly id: string; readonly note: string }) {
  const [length, setLength] = useState(lengthFirst);
  const { data, error } = useLoaded(`${id} ${length}`, () => getHistory(id, length), 2000);
  return (
    <Panel title="Timeline" note={note}>
      <Wrong says={error} />
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : <Entries entries={data.items} />}
      <Missing names={data?.missing ?? []} of="entries" />
      {data === undefined || data.cursor === null ? null : (
        <Older
          length={length}
          onMore={() => setLength(Math.min(lengthMax, length * lengthFactor))}
        />
      )}
    </Panel>
  );
}

function Older({ length, onMore }: { readonly length: number; readonly onMore: () => void }) {
  if (length >= lengthMax) {
    return (
      <p class="note">
        The newest {lengthMax} entries; <code>carillon history ID</code> has all of them.
      </p>
    );
  }
  return (
    <button type="button" class="button" onClick={onMore}>
      Show older entries
    </button>
  );
}

function Entries({ entries }: { readonly entries: readonly HistoryEntryShape[] }) {
  if (entries.length === 0) {
    return <p class="dim">Members remember nothing of this timer, or keep no history.</p>;
  }
  return (
    <ol class="timeline">
      {entries.map((entry, i) => (
        <Item key={`${entry.member} ${entry.at} ${titleOfEntry(entry)} ${i}`} entry={entry} />
      ))}
    </ol>
  );
}

function Item({ entry }: { readonly entry: HistoryEntryShape }) {
  const isAttempt = entry.kind === 'attempt';
  return (
    <li
      class={toneOf(entry)}
      data-attempt={isAttempt ? `${entry.pop}.${entry.attempt}` : undefined}
      data-action={isAttempt ? undefined : entry.action}
    >
      <time class="number dim" dateTime={entry.at} title={entry.at}>
        {instant(entry.at)}
      </time>
      <div class="event">
        <p class="row">
          <strong>{titleOfEntry(entry)}</strong>
          {isAttempt ? <Answer attempt={entry} /> : <bdi>{byText(entry)}</bdi>}
        </p>
        {isAttempt && (entry.detail ?? '') !== '' ? (
          <p>
            <bdi class="said">{entry.detail}</bdi>
          </p>
        ) : null}
        <p class="dim">
          {isAttempt ? `${measureText(entry)}, by ` : 'at '}
          <a href={`#/topology/${encodeURIComponent(entry.member)}`}>{entry.member}</a>
        </p>
      </div>
    </li>
  );
}

function Answer({ attempt }: { readonly attempt: HistoryAttemptShape }) {
  const { status, replica } = attempt;
  return (
    <>
      <span class={`badge ${toneOf(attempt)}`}>{status}</span>
      {replica === 0 ? null : (
        <span
          class="badge warn"
          title="The replicas before it did not answer, or left this receiver alone because it kept failing."
        >
          by backup {replica}
        </span>
      )}
    </>
  );
}
