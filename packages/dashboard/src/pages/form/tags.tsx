/** Tags of a timer: a list, and a field that adds to it. */
import { allTags } from './timer-body.ts';
import type { FieldProps } from './typed-timer.ts';

export function Tags({ typed, change }: FieldProps) {
  const { tags, tag } = typed;
  const add = (): void => change({ tags: allTags({ tags, tag }), tag: '' });
  return (
    <div class="field">
      <label for="tag-field">Tags</label>
      {tags.length === 0 ? null : (
        <ul class="chips">
          {tags.map((one) => (
            <li key={one}>
              <button
                type="button"
                class="chip"
                aria-label={`Remove the tag ${one}`}
                title={one}
                onClick={() => change({ tags: tags.filter((other) => other !== one) })}
              >
                <bdi>{one}</bdi> ×
              </button>
            </li>
          ))}
        </ul>
      )}
      <input
        id="tag-field"
        type="text"
        placeholder="orders, eu"
        spellcheck={false}
        autocomplete="off"
        value={tag}
        onInput={(event) => change({ tag: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || tag.trim() === '') return;
          event.preventDefault();
          add();
        }}
      />
    </div>
  );
}
