/** Buttons on a timer: run it now, edit it, set another like it, cancel it. */
import { useState } from 'preact/hooks';
import { cancelTimer, runTimer } from '../api.ts';
import { shortId } from '../format.ts';
import { Action } from '../parts/parts.tsx';
import { mayWrite } from '../session.ts';

export function TimerActions({ id, again }: { readonly id: string; readonly again: () => void }) {
  const [run, setRun] = useState('');
  if (!mayWrite.value) return null;
  return (
    <div class="actions wrap">
      <span role="status">
        {run === '' ? null : (
          <>
            Sent by <a href={`#/timers/${run}`}>timer {shortId(run)}</a>.
          </>
        )}
      </span>
      <Action
        label="Run now"
        class="primary"
        run={async () => {
          setRun(await runTimer(id));
          again();
        }}
      />
      <a class="button" href={`#/timers/edit?id=${encodeURIComponent(id)}`}>
        Edit
      </a>
      <a class="button" href={`#/timers/new?like=${encodeURIComponent(id)}`}>
        Duplicate
      </a>
      <Action
        label="Cancel the timer"
        confirm="Really cancel it"
        run={async () => {
          await cancelTimer(id);
          again();
        }}
      />
    </div>
  );
}
