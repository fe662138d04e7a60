/** A form to set a timer; leads to the new timer, to watch it pop. */
import type { TargetedInputEvent } from 'preact';
import { useState } from 'preact/hooks';
import { setTimer } from '../api.ts';
import { Panel, Wrong } from '../parts/parts.tsx';
import { go } from '../route.ts';
import type { Snapshot } from '../parts/shapes.ts';
import { timerBody, type TypedTimer } from '../timer-body.ts';

const blank: TypedTimer = {
  kind: 'interval',
  interval: '10s',
  at: '',
  cron: '',
  timezone: '',
  ending: 'once',
  count: '5',
  repeatFor: '1h',
  uri: '',
  opaque: '',
  tags: '',
  factor: '',
};

interface FieldProps {
  readonly typed: TypedTimer;
  readonly change: (part: Partial<TypedTimer>) => void;
}

export function SetTimer({ now }: { readonly now: Snapshot }) {
  const [typed, setTyped] = useState(blank);
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
      go(`#/timers/${await setTimer(result.body)}`);
    } catch (cause) {
      setError(cause instanceof Error ? cause.message : String(cause));
    }
    setBusy(false);
  };
  return (
    <>
      <p class="crumbs">
        <a href="#/timers">Timers</a>
      </p>
      <h1>Set a timer</h1>
      <Panel title="New timer" class="narrow">
        <form class="form" onSubmit={(event) => void submit(event)}>
          <When typed={typed} change={change} />
          {typed.kind === 'at' ? null : <Until typed={typed} change={change} />}
          <Whom typed={typed} change={change} factor={now.factor} />
          <Wrong says={error} />
          <button type="submit" class="button primary" disabled={busy}>
            Set the timer
          </button>
        </form>
      </Panel>
    </>
  );
}

const kinds = [
  ['interval', 'After a while'],
  ['at', 'At a time'],
  ['cron', 'By cron'],
] as const;

function When({ typed, change }: FieldProps) {
  return (
    <>
      <fieldset class="choice">
        <legend>When</legend>
        {kinds.map(([kind, title]) => (
          <label key={kind}>
            <input
              type="radio"
              name="kind"
              checked={typed.kind === kind}
              onChange={() => change({ kind })}
            />
            {title}
          </label>
        ))}
      </fieldset>
      {typed.kind === 'interval' ? (
        <Field
          name="Interval"
          hint="10s, 5m, 1h30m"
          value={typed.interval}
          take={(interval) => change({ interval })}
        />
      ) : null}
      {typed.kind === 'at' ? (
        <Field
          name="Date and time"
          type="datetime-local"
          value={typed.at}
          take={(at) => change({ at })}
        />
      ) : null}
      {typed.kind === 'cron' ? (
        <>
          <Field
            name="Cron expression"
            hint="0 9 * * 1-5"
            value={typed.cron}
            take={(cron) => change({ cron })}
          />
          <Field
            name="Time zone"
            hint="UTC"
            value={typed.timezone}
            take={(timezone) => change({ timezone })}
          />
        </>
      ) : null}
    </>
  );
}

const endings = [
  ['once', 'Once'],
  ['count', 'A number of pops'],
  ['for', 'For some time'],
  ['forever', 'For ever'],
] as const;

function Until({ typed, change }: FieldProps) {
  return (
    <>
      <label class="field">
        <span>How often</span>
        <select
          value={typed.ending}
          onChange={(event) => change({ ending: event.currentTarget.value })}
        >
          {endings.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {typed.ending === 'count' ? (
        <Field name="Pops" type="number" value={typed.count} take={(count) => change({ count })} />
      ) : null}
      {typed.ending === 'for' ? (
        <Field
          name="For"
          hint="1h"
          value={typed.repeatFor}
          take={(repeatFor) => change({ repeatFor })}
        />
      ) : null}
    </>
  );
}

function Whom({ typed, change, factor }: FieldProps & { readonly factor: number }) {
  return (
    <>
      <Field
        name="Callback address"
        hint="http://127.0.0.1:8080/done"
        value={typed.uri}
        take={(uri) => change({ uri })}
      />
      <Field
        name="Opaque text, sent back as it is"
        value={typed.opaque}
        take={(opaque) => change({ opaque })}
      />
      <Field name="Tags" hint="orders, eu" value={typed.tags} take={(tags) => change({ tags })} />
      <Field
        name="Replicas"
        type="number"
        hint={String(factor)}
        value={typed.factor}
        take={(value) => change({ factor: value })}
      />
    </>
  );
}

function Field(props: {
  readonly name: string;
  readonly value: string;
  readonly take: (value: string) => void;
  readonly hint?: string;
  readonly type?: 'number' | 'datetime-local';
}) {
  const common = {
    value: props.value,
    placeholder: props.hint,
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => props.take(event.currentTarget.value),
    spellcheck: false,
  };
  return (
    <label class="field">
      <span>{props.name}</span>
      {props.type === 'number' ? <input type="number" {...common} /> : null}
      {props.type === 'datetime-local' ? <input type="datetime-local" {...common} /> : null}
      {props.type === undefined ? <input type="text" autocomplete="off" {...common} /> : null}
    </label>
  );
}
