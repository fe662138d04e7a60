/** Fields that say when a timer pops, and how often. */
import { Choice, Field } from './field.tsx';
import type { FieldProps, TypedTimer } from './typed-timer.ts';
import { Zones, zonesId } from './zones.tsx';

const kinds = [
  ['interval', 'After a while'],
  ['at', 'At a time'],
  ['cron', 'By cron'],
] as const;

export function When({ typed, change }: FieldProps) {
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
      {typed.kind === 'cron' ? <Cron typed={typed} change={change} /> : null}
      {typed.kind === 'at' ? null : <Ending typed={typed} change={change} />}
    </>
  );
}

function Cron({ typed, change }: FieldProps) {
  return (
    <div class="pair">
      <Field
        name="Cron expression"
        hint="0 9 * * 1-5"
        value={typed.cron}
        take={(cron) => change({ cron })}
      />
      <Field
        name="Time zone"
        hint="UTC"
        list={zonesId}
        value={typed.timezone}
        take={(timezone) => change({ timezone })}
      />
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

function Ending({ typed, change }: FieldProps) {
  return (
    <div class="pair">
      <Choice
        name="How often"
        value={typed.ending}
        values={endings}
        take={(ending) => change({ ending })}
      />
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
      {typed.ending === 'until' ? (
        <Field
          name="Until"
          type="datetime-local"
          value={typed.until}
          take={(until) => change({ until })}
        />
      ) : null}
    </div>
  );
}
