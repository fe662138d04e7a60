/** Pops that were given up: the reason, and buttons to send them again or to drop them. */
import { discard, listDeadLetters, redeliver } from '../api.ts';
import { counted, instant, shortId } from '../format.ts';
import { useLoaded } from '../loaded.ts';
import { Action, Empty, Loading, Panel, Wrong } from '../parts/parts.tsx';
import { Pager, useTrail } from '../pages.tsx';
import { mayWrite } from '../session.ts';
import type { DeadLetterShape } from '../parts/shapes.ts';

export function DeadLetters() {
  const trail = useTrail();
  const { cursor } = trail;
  const { data, error, again } = useLoaded(`dead ${cursor}`, () => listDeadLetters(cursor), 3000);
  return (
    <>
      <h1>Dead letters</h1>
      <p class="lead">
        Pops that no receiver took in time. Nothing is lost: deliver them again once the receiver is
        well, or drop them.
      </p>
      <Wrong says={error} />
      {data === undefined && error === null ? <Loading /> : null}
      {data === undefined ? null : (
        <Panel title="Given up" note={`page ${trail.page}`}>
          {data.items.length === 0 ? (
            <Empty title="There are none">
              Every pop so far was delivered, or is still being tried.
            </Empty>
          ) : (
            <Letters letters={data.items} again={again} />
          )}
          <Pager trail={trail} next={data.cursor} />
        </Panel>
      )}
    </>
  );
}

function Letters(props: {
  readonly letters: readonly DeadLetterShape[];
  readonly again: () => void;
}) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th>Timer</th>
            <th>Reason</th>
            <th>Was due</th>
            <th>Attempts</th>
            <th>Callback</th>
            <th aria-label="What to do" />
          </tr>
        </thead>
        <tbody>
          {props.letters.map((letter) => (
            <Letter key={letter.id} letter={letter} again={props.again} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Letter({
  letter,
  again,
}: {
  readonly letter: DeadLetterShape;
  readonly again: () => void;
}) {
  const then = (act: (id: string) => Promise<void>) => async (): Promise<void> => {
    await act(letter.id);
    again();
  };
  return (
    <tr data-letter={letter.id}>
      <td>
        <a class="mono" href={`#/timers/${letter.timer}`}>
          {shortId(letter.timer)}
        </a>
        <span class="note"> pop {letter.sequence}</span>
      </td>
      <td>{letter.reason}</td>
      <td class="number">{instant(letter.due)}</td>
      <td>{counted(letter.attempts, 'attempt')}</td>
      <td class="uri" title={letter.callback.http.uri}>
        {letter.callback.http.uri}
      </td>
      <td class="actions">
        {mayWrite.value ? (
          <>
            <Action label="Deliver again" class="primary" run={then(redeliver)} />
            <Action label="Drop" confirm="Really drop it" run={then(discard)} />
          </>
        ) : null}
      </td>
    </tr>
  );
}
