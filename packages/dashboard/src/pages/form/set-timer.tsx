/** The form that sets a timer, replaces one, or sets another like it; leads to the timer, to watch it pop. */
import { sentenceOf } from '@carillon/core';
import { useState } from 'preact/hooks';
import { getTimer, replaceTimer, setTimer } from '../../api.ts';
import { shortId } from '../../format.ts';
import { useLoaded } from '../../loaded.ts';
import { Empty, Loading, Panel, Wrong } from '../../parts/parts.tsx';
import type { Snapshot, TimerShape } from '../../parts/shapes.ts';
import { go, route } from '../../route.ts';
import { More } from './more.tsx';
import { Preview } from './preview.tsx';
import { Tags } from './tags.tsx';
import { timerBody, typedTimer } from './timer-body.ts';
import { blank, type TypedTimer } from './typed-timer.ts';
import { When } from './when.tsx';
import { Whom } from './whom.tsx';

/** Nothing is loaded again: that would overwrite typed fields. */
const neverMs = 2 ** 31 - 1;

interface FormProps {
  readonly now: Snapshot;
  readonly title: string;
  readonly label: string;
  readonly begin: TypedTimer;
  readonly note?: string;
  /** Resolves with the id of the timer. */
  readonly send: (body: object) => Promise<string>;
}

/** A new timer; `?like=ID`: with the definition of another. */
export function SetTimer({ now }: { readonly now: Snapshot }) {
  const like = route.value.query.get('like');
  const form = { now, label: 'Set the timer', send: setTimer };
  if (like === null) return <Form {...form} title="Set a timer" begin={blank} />;
  return (
    <Known key={like} id={like}>
      {(timer) => (
        <Form {...form} title={`Another like ${shortId(like)}`} begin={typedTimer(timer)} />
      )}
    </Known>
  );
}

/** `?id=ID`: the timer that is replaced. */
export function EditTimer({ now }: { readonly now: Snapshot }) {
  const id = route.value.query.get('id') ?? '';
  return (
    <Known key={id} id={id}>
      {(timer) => (
        <Form
          now={now}
          title={`Edit ${shortId(id)}`}
          label="Save"
          begin={typedTimer(timer)}
          note="Saving replaces the timer: it begins anew, with pop 1 and its interval from now."
          send={(body) => save(timer, body)}
        />
      )}
    </Known>
  );
}

/** A change that was made since the form was opened is not overwritten. */
async function save(timer: TimerShape, body: object): Promise<string> {
  const present = await getTimer(timer.id);
  if (present !== null && present.version !== timer.version)
    throw new Error('The timer was replaced meanwhile. Open it again to see its new definition.');
  if (present === null) throw new Error('The timer has ended meanwhile. Set another like it.');
  return replaceTimer(timer.id, body);
}

function Known(props: {
  readonly id: string;
  readonly children: (timer: TimerShape) => preact.ComponentChildren;
}) {
  const { data, error } = useLoaded(`form ${props.id}`, () => getTimer(props.id), neverMs);
  if (data === undefined) return error === null ? <Loading /> : <Wrong says={error} />;
  if (data !== null) return <>{props.children(data)}</>;
  return (
    <div class="panel">
      <h1>No live timer has this id</h1>
      <Empty title="There is nothing to change">
        <a href="#/timers">See all timers</a>.
      </Empty>
    </div>
  );
}

function Form({ now, title, label, begin, note, send }: FormProps) {
  const [typed, setTyped] = useState(begin);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const change = (part: Partial<TypedTimer>): void => setTyped((known) => ({ ...known, ...part }));
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const result = timerBody(typed);
    if ('wrong' in result) return setError(result.wrong);
    setBusy(true);
    setError(null);
    try {
      go(`#/timers/${await send(result.body)}`);
    } catch (cause) {
      setError(sentenceOf(cause));
    }
    setBusy(false);
  };
  return (
    <>
      <p class="crumbs">
        <a href="#/timers">Timers</a>
      </p>
      <h1>{title}</h1>
      {note === undefined ? null : <p class="lead">{note}</p>}
      <form class="form two" onSubmit={(event) => void submit(event)}>
        <Panel title="Timing">
          <div class="form">
            <When typed={typed} change={change} />
            <Preview typed={typed} />
          </div>
        </Panel>
        <Panel title="Callback">
          <div class="form">
            <Whom typed={typed} change={change} />
            <Tags typed={typed} change={change} />
            <details open={hasMore(begin)}>
              <summary>Retries, time limit, replicas</summary>
              <div class="form">
                <More typed={typed} change={change} factor={now.factor} />
              </div>
            </details>
          </div>
        </Panel>
        <div class="send">
          <Wrong says={error} />
          <button type="submit" class="button primary" disabled={busy}>
            {label}
          </button>
        </div>
      </form>
    </>
  );
}

/** Whether one of the rarer fields has a value. */
function hasMore({ retryLimit, retryMaxAttempts, timeout, batch }: TypedTimer): boolean {
  return retryLimit !== '' || retryMaxAttempts !== '' || timeout !== '' || batch;
}
