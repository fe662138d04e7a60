/** Fields that few timers need: retries, time limit, replicas. Empty ones mean the member's own values. */
import { Field } from './field.tsx';
import type { FieldProps } from './typed-timer.ts';

export function More({ typed, change, factor }: FieldProps & { readonly factor: number }) {
  return (
    <>
      <fieldset class="lines">
        <legend>A callback that fails is tried again</legend>
        <div class="pair">
          <Field
            name="Given up after"
            hint="24h"
            value={typed.retryLimit}
            take={(retryLimit) => change({ retryLimit })}
          />
          <Field
            name="Attempts at most"
            type="number"
            hint="no limit"
            value={typed.retryMaxAttempts}
            take={(retryMaxAttempts) => change({ retryMaxAttempts })}
          />
          <Field
            name="First wait at most, then doubled"
            hint="1s"
            value={typed.retryBase}
            take={(retryBase) => change({ retryBase })}
          />
          <Field
            name="Wait at most"
            hint="5m"
            value={typed.retryMaxWait}
            take={(retryMaxWait) => change({ retryMaxWait })}
          />
        </div>
      </fieldset>
      <div class="pair">
        <Field
          name="Time limit of an attempt"
          hint="10s"
          value={typed.timeout}
          take={(timeout) => change({ timeout })}
        />
        <Field
          name="Replicas"
          type="number"
          hint={String(factor)}
          value={typed.factor}
          take={(value) => change({ factor: value })}
        />
      </div>
      <label class="check">
        <input
          type="checkbox"
          checked={typed.batch}
          onChange={(event) => change({ batch: event.currentTarget.checked })}
        />
        Pops that are due together may come in one request
      </label>
    </>
  );
}
