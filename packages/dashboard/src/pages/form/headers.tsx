/** Headers of the callback, a line each. */
import type { FieldProps, TypedHeader } from './typed-timer.ts';

export function Headers({ typed, change }: FieldProps) {
  const { headers } = typed;
  const put = (at: number, part: Partial<TypedHeader>): void =>
    change({ headers: headers.map((header, i) => (i === at ? { ...header, ...part } : header)) });
  return (
    <fieldset class="lines">
      <legend>Headers</legend>
      {headers.map(({ name, value }, i) => (
        <div key={i} class="line">
          <input
            type="text"
            aria-label={`Name of header ${i + 1}`}
            placeholder="X-Name"
            spellcheck={false}
            autocomplete="off"
            value={name}
            onInput={(event) => put(i, { name: event.currentTarget.value })}
          />
          <input
            type="text"
            aria-label={`Value of header ${i + 1}`}
            placeholder="value"
            spellcheck={false}
            autocomplete="off"
            value={value}
            onInput={(event) => put(i, { value: event.currentTarget.value })}
          />
          <button
            type="button"
            class="button"
            aria-label={`Remove header ${i + 1}`}
            onClick={() => change({ headers: headers.filter((_, at) => at !== i) })}
          >
            ×
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button"
        onClick={() => change({ headers: [...headers, { name: '', value: '' }] })}
      >
        Add a header
      </button>
    </fieldset>
  );
}
