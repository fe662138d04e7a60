/** Fields that say when a timer pops, and how often. */
import { Choice, TimerField } from './field.tsx';
import type { FieldProps, TypedTimer } from './typed-timer.ts';
import { Zones, zonesId } from './zones.tsx';

const kinds = [
  ['interval', 'After a while'],
  ['at', 'At a time'],
  ['cron', 'By cron'],
] as const;

export function When(form: FieldProps) {
  const { typed, change } = form;
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
        <TimerField form={form} text="interval" name="Interval" hint="10s, 5m, 1h30m" />
      ) : null}
      {typed.kind === 'at' ? (
        <TimerField form={form} text="at" name="Date and time" type="datetime-local" />
      ) : null}
      {typed.kind === 'cron' ? <Cron typed={typed} change={change} /> : null}
      {typed.kind === 'at' ? null : <Ending typed={typed} change={change} />}
    </>
  );
}

function Cron(form: FieldProps) {
  return (
    <div class="pair">
      <TimerField form={form} text="cron" name="Cron expression" hint="0 9 * * 1-5" />
      <TimerField form={form} text="timezone" name="Time zone" hint="UTC" list={zonesId} />
      <Zones />
    </div>
  );
}

const endings: readonly (readonly [TypedTimer['ending'], string])[] = [
  ['once', 'Once'],
  ['count', 'A number of pops'],
  ['for', 'For some time'],
  ['until', 'Until a time'],
  ['forever', 'For ever'],
];

function Ending(form: FieldProps) {
  const { typed, change } = form;
  return (
    <div class="pair">
      <Choice
        name="How often"
        value={typed.ending}
        values={endings}
        take={(ending) => change({ ending })}
      />
      {typed.ending === 'count' ? (
        <TimerField form={form} text="count" name="Pops" type="number" />
      ) : null}
      {typed.ending === 'for' ? (
        <TimerField form={form} text="repeatFor" name="For" hint="1h" />
      ) : null}
      {typed.ending === 'until' ? (
        <TimerField form={form} text="until" name="Until" type="datetime-local" />
      ) : null}
    </div>
  );
}
