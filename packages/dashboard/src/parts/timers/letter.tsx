/** One dead letter: the pop, its receiver and the reason, readable as a whole, and buttons for it. */
import { useState } from 'preact/hooks';
import { discard, redeliver } from '../../api.ts';
import { counted, instant, shortId } from '../../format.ts';
import { mayWrite } from '../../session.ts';
import { Opaque } from './opaque.tsx';
import { Action } from '../parts.tsx';
import type { DeadLetterShape } from '../shapes.ts';

export function Letter(props: {
  readonly letter: DeadLetterShape;
  readonly again: () => void;
  readonly chosen?: boolean;
  /** Whether its opaque is shown too. */
  readonly whole?: boolean;
  /** Not there: it cannot be chosen. */
  readonly choose?: (isChosen: boolean) => void;
}) {
  const { letter, again, chosen, choose, whole = false } = props;
  const [done, setDone] = useState('');
  const then = (act: (id: string) => Promise<void>, says: string) => async (): Promise<void> => {
    await act(letter.id);
    setDone(says);
    again();
  };
  const { http } = letter.callback;
  return (
    <li class="letter" data-letter={letter.id}>
      {choose !== undefined && mayWrite.value ? (
        <input
          type="checkbox"
          aria-label={`Choose pop ${letter.sequence} of ${shortId(letter.timer)}`}
          checked={chosen}
          onChange={(event) => choose(event.currentTarget.checked)}
        />
      ) : null}
      <div class="letter-text">
        <p class="row wrap">
          <a class="mono" href={`#/timers/${letter.timer}`}>
            {shortId(letter.timer)}
          </a>
          <span class="note">
            pop {letter.sequence} · due {instant(letter.due)} ·{' '}
            {counted(letter.attempts, 'attempt')}
          </span>
        </p>
        <p class="break">
          {http.method ?? 'POST'} <bdi>{http.uri}</bdi>
        </p>
        <p class="break reason">
          <bdi>{letter.reason}</bdi>
        </p>
        {whole ? <Opaque text={http.opaque ?? ''} /> : null}
      </div>
      {mayWrite.value ? (
        <div class="actions">
          {done === '' ? null : <span role="status">{done}</span>}
          <Action label="Deliver again" class="primary" run={then(redeliver, 'Sent again.')} />
          <Action label="Drop" confirm="Really drop it" run={then(discard, 'Dropped.')} />
        </div>
      ) : null}
    </li>
  );
}
