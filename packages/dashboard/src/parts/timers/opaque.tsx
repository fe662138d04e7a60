/** The opaque text of a timer: lines kept, JSON pretty-printed, long texts to expand, and all of it to copy. */
import { useState } from 'preact/hooks';
import { copied } from '../copy.ts';
import { beginning, opaqueText } from './opaque-text.ts';

export function Opaque({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  const [says, setSays] = useState('');
  if (text === '') return <>–</>;
  const whole = opaqueText(text);
  const short = beginning(whole);
  const copy = async (): Promise<void> => setSays((await copied(text)) ? 'Copied.' : 'Not copied.');
  return (
    <div class="opaque">
      <pre tabIndex={0} aria-label="Opaque">
        <bdi>{short === null || isOpen ? whole : short}</bdi>
      </pre>
      <p class="row wrap">
        {short === null ? null : (
          <button type="button" class="link" onClick={() => setOpen(!isOpen)}>
            {isOpen ? 'Show less' : `Show all ${whole.length} characters`}
          </button>
        )}
        <button type="button" class="link" onClick={() => void copy()}>
          Copy
        </button>
        <span class="note" role="status">
          {says}
        </span>
      </p>
    </div>
  );
}
