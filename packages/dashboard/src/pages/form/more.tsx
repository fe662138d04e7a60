/** Fields that few timers need: retries, time limit, replicas. Empty ones mean the member's own values. */
import { TimerField } from './field.tsx';
import type { FieldProps } from './typed-timer.ts';

export function More({ factor, ...form }: FieldProps & { readonly factor: number }) {
  const { typed, change } = form;
  return (
    <>
      <fieldset class="lines">
        <legend>A callback that fails is tried again</legend>
        <div class="pair">
          <TimerField form={form} text="retryLimit" name="Given up after" hint="24h" />
          <TimerField
            form={form}
            text="retryMaxAttempts"
            name="Attempts at most"
            type="number"
            hint="no limit"
          />
          <TimerField
            form={form}
            text="retryBase"
            name="First wait at most, then doubled"
            hint="1s"
          />
          <TimerField form={form} text="retryMaxWait" name="Wait at most" hint="5m" />
        </div>
      </fieldset>
      <div class="pair">
        <TimerField form={form} text="timeout" name="Time limit of an attempt" hint="10s" />
        <TimerField form={form} text="factor" name="Replicas" type="number" hint={String(factor)} />
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
