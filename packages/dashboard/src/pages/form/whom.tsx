/** Fields of the callback: address, method, headers, opaque, time limit. */
import { Choice, TimerField } from './field.tsx';
import { Headers } from './headers.tsx';
import type { FieldProps } from './typed-timer.ts';

const usual = ['POST', 'PUT', 'PATCH', 'GET', 'DELETE'];

export function Whom(form: FieldProps) {
  const { typed, change } = form;
  const methods = usual.includes(typed.method) ? usual : [...usual, typed.method];
  return (
    <>
      <div class="pair method">
        <Choice
          name="Method"
          value={typed.method}
          values={methods.map((method) => [method, method])}
          take={(method) => change({ method })}
        />
        <TimerField
          form={form}
          text="uri"
          name="Callback address"
          hint="http://127.0.0.1:8080/done"
        />
      </div>
      <label class="field">
        <span>Opaque text, sent back as it is</span>
        <textarea
          rows={rowsFor(typed.opaque)}
          class="mono"
          spellcheck={false}
          value={typed.opaque}
          onInput={(event) => change({ opaque: event.currentTarget.value })}
        />
      </label>
      <Headers typed={typed} change={change} />
    </>
  );
}

const rowsMin = 3;
const rowsMax = 16;

/** As many lines as the text has, within reason. */
function rowsFor(text: string): number {
  return Math.min(rowsMax, Math.max(rowsMin, text.split('\n', rowsMax + 1).length));
}
