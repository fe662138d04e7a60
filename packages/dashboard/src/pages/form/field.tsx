/** One field of the form: a name above, an input below. */
import type { TargetedInputEvent } from 'preact';
import type { FieldProps, TypedTimer } from './typed-timer.ts';

interface FieldOptions {
  readonly name: string;
  readonly value: string;
  readonly take: (value: string) => void;
  readonly hint?: string;
  readonly type?: 'number' | 'datetime-local';
  /** Id of a list of suggestions. */
  readonly list?: string;
}

function Field(props: FieldOptions) {
  const common = {
    value: props.value,
    placeholder: props.hint,
    onInput: (event: TargetedInputEvent<HTMLInputElement>) => props.take(event.currentTarget.value),
    spellcheck: false,
    autocomplete: 'off',
  } as const;
  return (
    <label class="field">
      <span>{props.name}</span>
      {props.type === 'number' ? <input type="number" min={1} {...common} /> : null}
      {props.type === 'datetime-local' ? (
        <input type="datetime-local" step="0.001" {...common} />
      ) : null}
      {props.type === undefined ? <input type="text" list={props.list} {...common} /> : null}
    </label>
  );
}

/** Parts of the timer in the form that are text. */
type TextName = {
  [Name in keyof TypedTimer]: string extends TypedTimer[Name] ? Name : never;
}[keyof TypedTimer];

/** The field for one text of the timer in the form. */
export function TimerField(
  props: { readonly form: FieldProps; readonly text: TextName } & Omit<
    FieldOptions,
    'value' | 'take'
  >,
) {
  const { form, text, ...shown } = props;
  const take = (value: string): void => form.change({ [text]: value });
  return <Field {...shown} value={form.typed[text]} take={take} />;
}

/** A choice of a few values. */
export function Choice<T extends string>(props: {
  readonly name: string;
  readonly value: T;
  readonly values: readonly (readonly [T, string])[];
  readonly take: (value: T) => void;
}) {
  return (
    <label class="field">
      <span>{props.name}</span>
      <select value={props.value} onChange={(event) => props.take(event.currentTarget.value as T)}>
        {props.values.map(([value, title]) => (
          <option key={value} value={value}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
